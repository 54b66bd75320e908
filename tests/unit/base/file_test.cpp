#include "host/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "tests/support/scratch.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using File = ScratchTest;

TEST_F(File, ReadsBackWhatWasWritten) {
  const fs::path path = scratch() / "a";
  const std::string content("zero \0 and newline\n", 19);
  write_durable(path, content, 0640);
  EXPECT_EQ(read_text(path, ErrorKind::kIo), content);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  write_durable(path, "short");
  EXPECT_EQ(read_text(path, ErrorKind::kIo), "short");
}

TEST_F(File, ReadingNamesThePathAndTheReason) {
  EXPECT_THAT([&] { read_text(scratch() / "none", ErrorKind::kData); },
              ThrowsMessage<Error>(AllOf(HasSubstr("none"), HasSubstr("no such file"))));
  EXPECT_THAT([&] { read_text(scratch(), ErrorKind::kData); }, ThrowsMessage<Error>(HasSubstr("is a directory")));
  EXPECT_THAT([&] { MappedFile(scratch() / "none", ErrorKind::kData); },
              ThrowsMessage<Error>(HasSubstr("No such file")));
  EXPECT_THAT([&] { MappedFile(scratch(), ErrorKind::kData); }, ThrowsMessage<Error>(HasSubstr("not a regular file")));
  try {
    read_text(scratch() / "none", ErrorKind::kData);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
  }
}

TEST_F(File, ReplacingLeavesNoTemporaryBehind) {
  const fs::path path = scratch() / "a";
  replace_durable(path, "old");
  replace_durable(path, "new");
  EXPECT_EQ(read_text(path, ErrorKind::kIo), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch()), fs::directory_iterator()), 1);
}

TEST_F(File, AFullDiskTellsBytesNeededAndFree) {
  // A limit on the size of files stands for the disk: the same code path, EFBIG for ENOSPC.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THAT([&] { write_durable(scratch() / "a", std::string(5000, 'x')); },
              ThrowsMessage<Error>(AllOf(HasSubstr("a: cannot be written"), HasSubstr("4000 more bytes needed"),
                                         HasSubstr(" free"), HasSubstr("--output_dir"))));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST_F(File, WritingIntoAMissingDirectoryIsAnError) {
  EXPECT_THAT([&] { write_durable(scratch() / "no" / "a", ""); }, ThrowsMessage<Error>(HasSubstr("cannot be created")));
  EXPECT_THAT([&] { sync_directory(scratch() / "no"); }, ThrowsMessage<Error>(HasSubstr("cannot be opened")));
}

TEST_F(File, MapsTheBytesOfAFile) {
  write_durable(scratch() / "a", "abc");
  const MappedFile file(scratch() / "a", ErrorKind::kIo);
  ASSERT_EQ(file.size(), 3U);
  EXPECT_EQ(std::memcmp(file.data(), "abc", 3), 0);
  write_durable(scratch() / "empty", "");
  EXPECT_EQ(MappedFile(scratch() / "empty", ErrorKind::kIo).size(), 0U);
}

TEST_F(File, KnowsTheFreeBytesOfAPathThatDoesNotExistYet) {
  EXPECT_GT(free_bytes(scratch() / "later" / "deeper"), 0U);
}

}  // namespace
}  // namespace lerobot
