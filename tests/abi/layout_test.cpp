// The header's layout against the golden of its version. When a change is meant, copy the file that a failure names.
#include <gtest/gtest.h>
#include <lerobot_accel.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "host/base/file.h"
#include "tests/abi/layout.h"

namespace lerobot {
namespace {

const std::string kGolden = LEROBOT_SOURCE_DIR "/plugin-api/abi/" LRA_VERSION_STRING ".txt";

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

/// Every numeric macro of the header, in its order.
std::string constants_text() {
  const std::regex macro(R"(#define (LRA_[A-Z0-9_]+) (?:UINT64_C\()?(0x[0-9a-fA-F]+|[0-9]+)u?\)?)");
  const std::string text = header();
  std::ostringstream constants;
  for (std::sregex_iterator match(text.begin(), text.end(), macro), end; match != end; ++match) {
    constants << "constant " << (*match)[1] << ' ' << std::stoull((*match)[2], nullptr, 0) << '\n';
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
  const std::regex definition(R"(typedef struct (lra_[a-z0-9_]+) \{)");
  const std::string text = header();
  std::set<std::string> defined;
  for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end; ++match) {
    defined.insert((*match)[1]);
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
