// The header's layout against the golden of its version, and against those of the versions before, which a newer minor
// keeps and appends to. A frozen golden never changes: a new version gets a file of its own, the one that a failure
// names.
#include <gmock/gmock.h>
#include <lerobot_accel.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "host/accel/sha256.h"
#include "host/base/file.h"
#include "tests/abi/golden.h"
#include "tests/abi/layout.h"

namespace lerobot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kGoldens = LEROBOT_SOURCE_DIR "/plugin-api/abi/";
const std::string kGolden = kGoldens + LRA_VERSION_STRING ".txt";

std::string header() {
  return read_text(LEROBOT_SOURCE_DIR "/plugin-api/include/lerobot_accel.h", ErrorKind::kIo);
}

std::string entries_text(const layout_entry* entry) {
  std::ostringstream text;
  for (; entry->structure != nullptr; ++entry) {
    if (entry->field == nullptr) {
      text << "struct " << entry->structure << ' ' << entry->size << '\n';
    } else {
      text << "field " << entry->structure << '.' << entry->field << ' ' << entry->offset << ' ' << entry->size << '\n';
    }
  }
  return text.str();
}

/// The header's lines that begin with `start`, without it.
std::vector<std::string> lines_after(const std::string& start) {
  std::istringstream text(header());
  std::vector<std::string> rests;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind(start, 0) == 0) rests.push_back(line.substr(start.size()));
  }
  return rests;
}

/// Every numeric macro of the header, in its order.
std::string constants_text() {
  std::ostringstream constants;
  for (const std::string& definition : lines_after("#define LRA_")) {
    std::istringstream words(definition);
    std::string name;
    std::string value;
    words >> name >> value;
    if (value.rfind("UINT64_C(", 0) == 0) value.erase(0, 9);
    if (value.empty() || std::isdigit(static_cast<unsigned char>(value[0])) == 0) continue;
    constants << "constant LRA_" << name << ' ' << std::stoull(value, nullptr, 0) << '\n';
  }
  return constants.str();
}

std::string layout_text() {
  return "version " LRA_VERSION_STRING "\nsymbol " LRA_PROBE_SYMBOL "\nsymbol " LRA_GET_API_SYMBOL "\n" +
         constants_text() + entries_text(layout_in_c99());
}

TEST(ContractLayout, EqualsTheGoldenOfItsVersion) {
  const std::string found = layout_text();
  const std::string written = LEROBOT_BUILD_DIR "/layout-" LRA_VERSION_STRING ".txt";
  std::ofstream(written) << found;
  EXPECT_EQ(found, read_text(kGolden, ErrorKind::kIo)) << "The header's layout is in " << written;
}

TEST(ContractLayout, KeepsEveryLineOfEveryReleasedVersion) {
  std::size_t versions = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldens)) {
    if (entry.path().extension() != ".txt") continue;
    ++versions;
    EXPECT_THAT(abi::broken_promises(read_text(entry.path(), ErrorKind::kIo), layout_text()), IsEmpty())
        << entry.path();
  }
  EXPECT_GE(versions, 1U);
}

TEST(ContractLayout, OfVersion1_0IsFrozen) {
  EXPECT_EQ(accel::sha256_file(kGoldens + "1.0.txt"),
            "cbafb77e5aa5180509bb24ea309c6d886d9faf54b028c1a4da49aa86cfffa439")
      << "a golden of a released version was edited; a change of the contract is a new version";
}

TEST(ContractLayout, MayGrowAtItsEndsInALaterMinor) {
  const std::string golden =
      "version 1.0\nsymbol lra_probe\nconstant LRA_VERSION_MINOR 0\nconstant LRA_OK 0\nstruct lra_api 8\n"
      "field lra_api.struct_size 0 4\nfield lra_api.init 4 4\n";
  EXPECT_THAT(abi::broken_promises(golden,
                                   "version 1.1\nsymbol lra_probe\nconstant LRA_VERSION_MINOR 1\nconstant LRA_OK 0\n"
                                   "constant LRA_NEW 9\nstruct lra_api 12\nfield lra_api.struct_size 0 4\n"
                                   "field lra_api.init 4 4\nfield lra_api.more 8 4\nstruct lra_new 4\n"),
              IsEmpty());
}

TEST(ContractLayout, MayNotMoveShrinkRenumberOrDropWhatAnOlderMinorHad) {
  const std::string golden =
      "version 1.0\nsymbol lra_probe\nconstant LRA_VERSION_MAJOR 1\nconstant LRA_OK 0\nstruct lra_api 8\n"
      "field lra_api.init 4 4\n";
  EXPECT_THAT(
      abi::broken_promises(golden,
                           "version 2.0\nconstant LRA_VERSION_MAJOR 2\nconstant LRA_OK 1\nstruct lra_api 4\n"
                           "field lra_api.init 8 4\n"),
      ElementsAre("constant LRA_OK was 0, is 1", "constant LRA_VERSION_MAJOR was 1, is 2",
                  "field lra_api.init was 4 4, is 8 4", "struct lra_api was 8, is 4", "symbol lra_probe is gone"));
}

TEST(ContractLayout, IsTheSameInCAndCpp) {
  EXPECT_EQ(entries_text(layout_in_c99()), entries_text(layout_in_cpp17()));
}

TEST(ContractLayout, HasNoPadding) {
  const layout_entry* entry = layout_in_c99();
  while (entry->structure != nullptr) {
    const layout_entry& structure = *entry++;
    std::uint64_t end = 0;
    for (; entry->field != nullptr; ++entry) {
      EXPECT_EQ(entry->offset, end) << structure.structure << '.' << entry->field;
      end = entry->offset + entry->size;
    }
    EXPECT_EQ(structure.size, end) << structure.structure;
  }
}

TEST(ContractLayout, ListsEveryStructAndStartsEachWithItsSize) {
  std::set<std::string> defined;
  for (const std::string& rest : lines_after("typedef struct lra_")) {
    if (rest.back() == '{') defined.insert("lra_" + rest.substr(0, rest.find(' ')));
  }
  std::set<std::string> listed;
  for (const layout_entry* entry = layout_in_c99(); entry->structure != nullptr; ++entry) {
    if (entry->field != nullptr) continue;
    listed.insert(entry->structure);
    EXPECT_STREQ(entry[1].field, "struct_size") << entry->structure;
    EXPECT_EQ(entry[1].size, sizeof(std::uint32_t)) << entry->structure;
  }
  EXPECT_EQ(listed, defined);
}

}  // namespace
}  // namespace lerobot
