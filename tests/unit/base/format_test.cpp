#include "host/base/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "host/base/error.h"
#include "host/base/exit_status.h"

namespace lerobot {
namespace {

TEST(Format, FollowsFmtsGrammar) {
  EXPECT_EQ(format("{} of {}", 3, 7U), "3 of 7");
  EXPECT_EQ(format("{1} {0}", "a", std::string("b")), "b a");
  EXPECT_EQ(format("{:.3f}|{:>6}|{:02x}", 0.12345, 42, 10U), "0.123|    42|0a");
  EXPECT_EQ(format("{} {}", true, std::string_view("x")), "true x");
  EXPECT_EQ(format("{{}}"), "{}");
  EXPECT_EQ(format("{}", std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(format("{}", std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(Format, RefusesAPatternThatDoesNotFit) {
  EXPECT_THROW(format("{} {}", 1), std::logic_error);
  EXPECT_THROW(format("{:d}", "text"), std::logic_error);
  EXPECT_THROW(format("{", 1), std::logic_error);
}

TEST(Error, EachKindHasItsExitCode) {
  EXPECT_EQ(exit_code(ErrorKind::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorKind::kConfig), 3);
  EXPECT_EQ(exit_code(ErrorKind::kData), 4);
  EXPECT_EQ(exit_code(ErrorKind::kDevice), 5);
  EXPECT_EQ(exit_code(ErrorKind::kCheckpoint), 6);
  EXPECT_EQ(exit_code(ErrorKind::kNumerics), 7);
  EXPECT_EQ(exit_code(ErrorKind::kMemory), 8);
  EXPECT_EQ(exit_code(ErrorKind::kIo), 9);
  EXPECT_EQ(exit_code(ErrorKind::kInternal), 70);
}

TEST(Error, EveryExitCodeOfAKindHasAMeaning) {
  for (const auto kind :
       {ErrorKind::kUsage, ErrorKind::kConfig, ErrorKind::kData, ErrorKind::kDevice, ErrorKind::kCheckpoint,
        ErrorKind::kNumerics, ErrorKind::kMemory, ErrorKind::kIo, ErrorKind::kInternal}) {
    const auto& all = exit_statuses();
    const auto has = [&](const ExitStatus& status) { return status.code == exit_code(kind); };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), has), 1) << exit_code(kind);
  }
}

TEST(Error, FailCarriesKindAndMessage) {
  try {
    fail(ErrorKind::kData, "{}: {} frames", "info.json", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_STREQ(error.what(), "info.json: 0 frames");
  }
}

}  // namespace
}  // namespace lerobot
