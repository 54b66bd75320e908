#include "host/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace lerobot {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string logged(const std::function<void()>& action) {
  ::testing::internal::CaptureStderr();
  action();
  log::flush();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, LinesHaveThePythonTrainersForm) {
  const std::string line = logged([] { log::info("step {} loss {:.3f}", 3, 0.5); });
  EXPECT_THAT(line, MatchesRegex("INFO [0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+ .+:[0-9]+ step 3 loss 0\\.500\n"));
  EXPECT_THAT(line, HasSubstr("log_test.cpp:"));
  EXPECT_THAT(logged([] { log::warn("careful"); }), ::testing::StartsWith("WARNING "));
  EXPECT_THAT(logged([] { log::error("broken"); }), ::testing::StartsWith("ERROR "));
}

TEST(Log, TheLevelDecidesWhatIsWritten) {
  EXPECT_EQ(logged([] { log::debug("hidden"); }), "");
  log::init(log::Level::kError);
  EXPECT_EQ(logged([] { log::warn("hidden"); }), "");
  EXPECT_THAT(logged([] { log::error("shown"); }), HasSubstr("shown"));
  log::init(log::Level::kDebug);
  EXPECT_THAT(logged([] { log::debug("shown"); }), HasSubstr("shown"));
  log::init(log::Level::kOff);
  EXPECT_EQ(logged([] { log::error("hidden"); }), "");
  log::init(log::Level::kInfo);
}

TEST(Log, BracesInAnArgumentAreText) {
  EXPECT_THAT(logged([] { log::info("{}", "{x}"); }), HasSubstr("{x}"));
}

TEST(Log, TheHookRunsAroundEveryLine) {
  std::vector<std::string> events;
  const log::LineHook hook{
      [](void* context) { static_cast<std::vector<std::string>*>(context)->emplace_back("before"); },
      [](void* context) { static_cast<std::vector<std::string>*>(context)->emplace_back("after"); }, &events};
  log::set_line_hook(&hook);
  logged([] {
    log::info("one");
    log::debug("not written");
  });
  log::set_line_hook(nullptr);
  logged([] { log::info("two"); });
  EXPECT_THAT(events, ::testing::ElementsAre("before", "after"));
}

TEST(Log, LinesOfManyThreadsStayWhole) {
  const std::string text = logged([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 50; ++i) log::info("{}", std::string(100, 'x'));
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find(" " + std::string(100, 'x') + "\n", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 200U);
}

}  // namespace
}  // namespace lerobot
