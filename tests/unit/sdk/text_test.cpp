#include "sdk/text.h"

#include <gmock/gmock.h>

#include "sdk/driver.h"
#include "sdk/probe.h"

namespace lerobot::sdk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, SplitsAtEachSeparatorAndLeavesEmptyPartsOut) {
  EXPECT_THAT(split("sm_75;sm_80", ';'), ElementsAre("sm_75", "sm_80"));
  EXPECT_THAT(split(";;a; b;", ';'), ElementsAre("a", " b"));
  EXPECT_THAT(split("", ';'), IsEmpty());
  EXPECT_EQ(join(split(";a;;b", ';')), "a, b");
}

TEST(Text, InLowerCaseChangesNothingButLetters) {
  EXPECT_EQ(lower_case("Level_Zero:0,3B"), "level_zero:0,3b");
}

TEST(DriverLibrary, NamesTheFirstFunctionThatItLacks) {
  const DriverLibrary library{"libc.so.6"};
  int (*own_id)() = nullptr;
  int (*none)() = own_id;
  std::string missing;
  library.bind(own_id, "getpid", missing);
  EXPECT_EQ(missing, "");
  ASSERT_NE(own_id, nullptr);
  library.bind(none, "no_such_function", missing);
  library.bind(none, "nor_this_one", missing);
  EXPECT_EQ(missing, "no_such_function");
  EXPECT_EQ(none, nullptr);
}

TEST(ProbeReport, TakesTheReasonThatASearchEndedWith) {
  ProbeReport report;
  report.refuse(Unavailable{LRA_REASON_NO_DRIVER, "no driver", "Install one"});
  EXPECT_FALSE(report.usable());
  EXPECT_EQ(report.reason, "no driver");
  EXPECT_EQ(report.hint, "Install one");
}

}  // namespace
}  // namespace lerobot::sdk
