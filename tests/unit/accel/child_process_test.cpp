#include "host/accel/child_process.h"

#include <gmock/gmock.h>

namespace lerobot::accel {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds kLong{20000};

/// The program gets its argument as one word: a program of one argument that says something about it.
std::vector<ChildOutcome> run(const char* program, const std::vector<std::string>& arguments,
                              milliseconds limit = kLong, std::size_t at_once = 2) {
  return run_children(program, arguments, limit, at_once);
}

TEST(ChildProcesses, AnswerInTheOrderOfTheirArguments) {
  const auto outcomes = run("/bin/echo", {"one", "two", "three", "four", "five"});
  ASSERT_EQ(outcomes.size(), 5U);
  EXPECT_EQ(outcomes[0].out, "one\n");
  EXPECT_EQ(outcomes[4].out, "five\n");
  for (const ChildOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_GT(outcome.pid, 0);
  }
}

TEST(ChildProcesses, EachHasTheWholeLimitForItself) {
  const auto start = std::chrono::steady_clock::now();
  const auto outcomes = run("/bin/sleep", {"0.3", "0.3", "30"}, milliseconds(700), 1);
  EXPECT_FALSE(outcomes[0].timed_out);
  EXPECT_FALSE(outcomes[1].timed_out);
  EXPECT_TRUE(outcomes[2].timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST(ChildProcesses, AreToldInOrderAsSoonAsThoseBeforeAreDone) {
  using Clock = std::chrono::steady_clock;
  std::vector<int> pids;
  std::vector<Clock::time_point> told;
  const auto outcomes = run_children("/bin/sleep", {"0.2", "0", "3"}, kLong, 3, [&](const ChildOutcome& outcome) {
    pids.push_back(outcome.pid);
    told.push_back(Clock::now());
  });
  ASSERT_EQ(told.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pids[i], outcomes[i].pid);
  EXPECT_GT(told[2] - told[0], std::chrono::seconds(1)) << "the first is told while the last still runs";
}

TEST(ChildProcesses, TellHowTheyEnded) {
  const auto outcomes = run("/bin/cat", {"/nonexistent"});
  EXPECT_NE(outcomes[0].exit_code, 0);
  EXPECT_THAT(outcomes[0].err, HasSubstr("/nonexistent"));
  const auto missing = run("/nonexistent", {"x"});
  EXPECT_THAT(missing[0].problem, HasSubstr("/nonexistent does not start"));
  EXPECT_THAT(signal_text(11), HasSubstr("signal 11"));
}

}  // namespace
}  // namespace lerobot::accel
