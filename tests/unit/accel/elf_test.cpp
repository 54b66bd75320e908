#include "host/accel/elf.h"

#include <gmock/gmock.h>

#include <random>

#include "host/accel/dependencies.h"
#include "host/base/error.h"
#include "host/base/file.h"
#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

TEST(Elf, TellsArchitectureAndNeeds) {
  const ElfInfo info = read_elf(test::fake_library("missing_dependency"));
  EXPECT_EQ(info.architecture, own_architecture());
  EXPECT_THAT(info.needed, Contains("libfake_dependency.so"));
}

TEST(Elf, TellsWhatALibraryExports) {
  EXPECT_THAT(exported_symbols(test::fake_library("usable")), testing::ElementsAre("lra_get_api", "lra_probe"));
  EXPECT_THAT(exported_symbols(test::fake_library("no_entry")), testing::IsEmpty());
}

TEST(Elf, ReadsTheSymbolsOfMutatedFilesWithinBounds) {
  const std::string original = read_text(test::fake_library("usable"), ErrorKind::kIo);
  const test::TemporaryDirectory directory;
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes = original;
    // The header, or the section headers at the end of the file.
    const std::size_t span = 1024;
    for (int k = 0; k < 8; ++k) {
      const std::size_t at = random() % span;
      bytes[i % 2 == 0 ? at % 64 : bytes.size() - span + at] = static_cast<char>(random());
    }
    test::write_file(directory.path() / "lib.so", bytes);
    try {
      exported_symbols(directory.path() / "lib.so");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Elf, RefusesATextFile) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "libtext.so",
                   "/* GNU ld script */ and some more text to fill a header with it......");
  EXPECT_THAT([&] { read_elf(directory.path() / "libtext.so"); },
              testing::ThrowsMessage<Error>(HasSubstr("no ELF header")));
}

TEST(Elf, NamesAnotherMachine) {
  const test::TemporaryDirectory directory;
  std::string bytes = read_text(test::fake_library("usable"), ErrorKind::kIo);
  bytes[18] = static_cast<char>(183);  // e_machine: aarch64
  bytes[19] = 0;
  test::write_file(directory.path() / "lib.so", bytes);
  EXPECT_EQ(read_elf(directory.path() / "lib.so").architecture, "aarch64");
}

TEST(Elf, AnswersOrThrowsForAnyBytes) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory.path() / "lib.so";
  const std::string good = read_text(test::fake_library("usable"), ErrorKind::kIo);
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string bytes = good;
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    for (int change = 0; change < 8 && !bytes.empty(); ++change) {
      const std::size_t range = change < 4 ? std::min<std::size_t>(bytes.size(), 1024) : bytes.size();
      bytes[random() % range] = static_cast<char>(random());
    }
    test::write_file(file, bytes);
    try {
      read_elf(file);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(MissingLibraries, GiveTheChainThatNeedsThem) {
  const test::TemporaryDirectory directory;
  const fs::path library = directory.path() / "libaccel.so";
  fs::copy_file(test::fake_library("missing_dependency"), library);
  const auto missing = missing_libraries(library, {});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_THAT(missing[0].chain, testing::ElementsAre("libaccel.so", "libfake_dependency.so"));
  const fs::path provided = test::fake_library("dependency").parent_path() / "libfake_dependency.so";
  EXPECT_TRUE(missing_libraries(library, {provided}).empty());
}

TEST(LoaderCache, OfThisSystemNamesTheCLibrary) {
  if (!fs::exists("/etc/ld.so.cache")) GTEST_SKIP() << "this system has no loader cache";
  EXPECT_THAT(read_loader_cache("/etc/ld.so.cache"), Contains(testing::Pair("libc.so.6", HasSubstr("libc.so.6"))));
}

TEST(LoaderCache, OfAnyBytesIsReadWithinItsBounds) {
  const test::TemporaryDirectory directory;
  std::string bytes = "glibc-ld.so.cache1.1" + std::string(40, '\xff');
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    test::write_file(directory.path() / "cache", bytes.substr(0, size));
    EXPECT_TRUE(read_loader_cache(directory.path() / "cache").empty());
  }
}

}  // namespace
}  // namespace lerobot::accel
