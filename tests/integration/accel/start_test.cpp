#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "host/base/file.h"
#include "tests/fakes/fake_package.h"
#include "tests/fakes/run_program.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
using test::make_fake;
using test::ProgramResult;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Start : public testing::Test {
 protected:
  ProgramResult start(std::vector<std::string> arguments = {}, std::map<std::string, std::string> variables = {}) {
    arguments.insert(arguments.begin(), root_.string());
    variables.emplace("LEROBOT_ACCEL_PLUGINS", "");
    variables.emplace("LEROBOT_ACCEL_SYSROOT", directory_.path().string());
    variables.emplace("FAKE_LOG", log_.string());
    return test::run_program(LEROBOT_START_DEVICE, arguments, variables);
  }

  /// How often the fakes noted this.
  std::size_t noted(const std::string& what) const {
    if (!fs::exists(log_)) return 0;
    const std::string text = "\n" + read_text(log_, ErrorKind::kIo);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("\n" + what + " ", at)) != std::string::npos; ++at) ++count;
    return count;
  }

  test::TemporaryDirectory directory_;
  fs::path root_ = directory_.path() / "packages";
  fs::path log_ = directory_.path() / "log";
};

TEST_F(Start, BringsUpThePluginAndForwardsItsLog) {
  make_fake(root_, "fake", "usable");
  const ProgramResult result = start();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("fake fake:0"));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("Device: Fake 0 through plugin fake 1.0"), HasSubstr("fake: the fake says hello")));
  EXPECT_EQ(noted("selftest"), 1u);
}

TEST_F(Start, HonoursATypedIndex) {
  make_fake(root_, "fake", "usable");
  EXPECT_THAT(start({"typed", "fake:1"}).out, StartsWith("fake fake:1"));
  EXPECT_EQ(start({"typed", "fake:9"}).code, 5);
}

TEST_F(Start, TakesTheLocalRanksDevice) {
  make_fake(root_, "fake", "usable");
  EXPECT_THAT(start({}, {{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}).out, StartsWith("fake fake:1"));
  const ProgramResult crowded = start({}, {{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "3"}});
  EXPECT_EQ(crowded.code, 5);
  EXPECT_THAT(crowded.err, AllOf(HasSubstr("3 processes"), HasSubstr("2 visible devices")));
}

TEST_F(Start, AfterAFailedSelftestRunsAgainWithTheNextCandidate) {
  make_fake(root_, "first", "selftest_fails", {{"priority", 3}});
  make_fake(root_, "second", "init_fails", {{"priority", 2}});
  make_fake(root_, "third", "usable", {{"priority", 1}});
  const ProgramResult result = start();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("third fake:0"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("rejected first: failed: selftest: this build has no code for fake_1"),
                                HasSubstr("rejected second: failed: init: the fake driver went away")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("Plugin first does not start"), HasSubstr("Plugin second does not start")));
  EXPECT_EQ(noted("init"), 3u) << "each candidate is tried once";
}

TEST_F(Start, EndsWhenEveryCandidateFailed) {
  make_fake(root_, "first", "selftest_fails");
  make_fake(root_, "second", "init_fails");
  const ProgramResult result = start();
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("no usable device"), HasSubstr("no code for fake_1"), HasSubstr("went away")));
  EXPECT_EQ(noted("init"), 2u);
}

TEST_F(Start, NeverReplacesATypedDeviceWhoseSelftestFails) {
  make_fake(root_, "first", "selftest_fails", {{"device_types", {"cuda"}}});
  make_fake(root_, "second", "usable");
  const ProgramResult result = start({"typed", "cuda"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("error: plugin first: selftest: this build has no code for fake_1"));
  EXPECT_EQ(noted("init"), 1u);
}

TEST_F(Start, ReplacesAStoredDeviceWithAWarningThatNamesBoth) {
  make_fake(root_, "old", "unavailable", {{"device_types", {"cuda"}}});
  make_fake(root_, "good", "usable");
  const ProgramResult result = start({"stored", "cuda:0"});
  EXPECT_THAT(result.out, StartsWith("good fake:0"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("The stored device cuda:0 is not available, Fake 0 is used instead"),
                                HasSubstr("driver 1.0 is too old")));
}

TEST_F(Start, OnTheCpuRunsNothingOfAnAccelerator) {
  make_fake(root_, "cpu", "usable");
  make_fake(root_, "cuda", "usable");
  const ProgramResult result = start({"typed", "cpu"});
  EXPECT_THAT(result.out, StartsWith("cpu fake:0"));
  EXPECT_EQ(noted("probe"), 1u);
  EXPECT_EQ(noted("init"), 1u);
}

TEST_F(Start, FallsToTheNextWhenAProbeFails) {
  make_fake(root_, "cuda", "crash");
  make_fake(root_, "rocm", "unavailable");
  make_fake(root_, "cpu", "usable");
  const ProgramResult result = start();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(StartsWith("cpu "), HasSubstr("rejected cuda: unavailable: its probe crashed"),
                                HasSubstr("rejected rocm: unavailable: driver 1.0 is too old")));
}

TEST_F(Start, OutlivesAPluginThatCrashesInItsInit) {
  const std::pair<const char*, const char*> ways[] = {
      {"init_crashes", "its start crashed: signal 11"},
      {"init_aborts", "its start crashed: signal 6"},
      {"init_exits", "its start called exit()"},
      {"init_overflows_the_stack", "its start crashed: signal 11"},
  };
  make_fake(root_, "cpu", "usable");
  for (const auto& [way, reason] : ways) {
    const fs::path package = make_fake(root_, "foo", way);
    const ProgramResult result = start();
    EXPECT_EQ(result.code, 0) << way << result.err;
    EXPECT_THAT(result.out, AllOf(StartsWith("cpu fake:0"), HasSubstr("rejected foo: failed: " + std::string(reason))));
    EXPECT_THAT(result.err, HasSubstr("Starting again without it"));
    const ProgramResult typed = start({"typed", "foo"});
    EXPECT_EQ(typed.code, 5) << way << typed.err;
    EXPECT_THAT(typed.err, HasSubstr("error: plugin foo: " + std::string(reason))) << way;
    fs::remove_all(package);
  }
}

TEST_F(Start, OutlivesTwoPluginsThatCrashOneAfterTheOther) {
  make_fake(root_, "first", "init_crashes", {{"priority", 3}});
  make_fake(root_, "second", "init_aborts", {{"priority", 2}});
  make_fake(root_, "cpu", "usable");
  const ProgramResult result = start();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(StartsWith("cpu "), HasSubstr("rejected first"), HasSubstr("rejected second")));
}

TEST_F(Start, RefusesPluginsThatDoNotKeepTheContract) {
  const std::pair<const char*, const char*> cases[] = {
      {"wrong_major", "no common major"},
      {"lies_about_major", "speaks plugin ABI 99, this program 1 to 1"},
      {"short_table", "its table has no activate_device"},
      {"no_entry", "exports no lra_get_api"},
  };
  for (const auto& [way, reason] : cases) {
    const fs::path package = make_fake(root_, way, way);
    fs::copy_file(test::fake_library("usable"), package / "libprobe.so", fs::copy_options::overwrite_existing);
    const ProgramResult result = start({"typed", way});
    EXPECT_EQ(result.code, 5) << way;
    EXPECT_THAT(result.err, HasSubstr(reason)) << way;
  }
}

/// A plugin of a later minor fills no more than this host's table; one with the required entries alone ends before it.
TEST_F(Start, TakesPluginsOfALaterMinorAndThoseWithAShorterTable) {
  for (const char* way : {"later_minor", "required_table"}) {
    make_fake(root_, way, way, {{"abi", {{"major_min", 1}, {"major_max", 1}, {"minor", 7}}}});
    const ProgramResult result = start({"typed", way});
    EXPECT_EQ(result.code, 0) << way << ": " << result.err;
    EXPECT_THAT(result.out, AllOf(StartsWith(std::string(way) + " fake:0"), HasSubstr("bf16 0"))) << way;
  }
}

/// Whatever is wrong with a plugin: auto takes the next healthy one and says why, a plugin asked for is an error.
TEST_F(Start, EndsOnTheBestHealthyPluginWhateverItsNeighbourDoes) {
  const char* ways[] = {"unavailable", "unfit_device",     "crash",          "hang",
                        "exit",        "garbage",          "no_entry",       "wrong_major",
                        "short_table", "lies_about_major", "init_fails",     "init_crashes",
                        "init_aborts", "init_exits",       "selftest_fails", "missing_dependency"};
  make_fake(root_, "good", "usable");
  for (const char* way : ways) {
    SCOPED_TRACE(way);
    const fs::path package = make_fake(root_, "bad", way, {{"priority", 9}});
    const std::map<std::string, std::string> impatient = {{"LEROBOT_ACCEL_PROBE_SECONDS", "1"}};
    const ProgramResult automatic = start({}, impatient);
    EXPECT_EQ(automatic.code, 0) << automatic.err;
    EXPECT_THAT(automatic.out, AllOf(StartsWith("good fake:0"), HasSubstr("rejected bad: ")));
    const ProgramResult typed = start({"typed", "bad"}, impatient);
    EXPECT_EQ(typed.code, 5) << typed.err;
    EXPECT_THAT(typed.err, AllOf(HasSubstr("error: "), HasSubstr("bad")));
    EXPECT_THAT(typed.out, Not(HasSubstr("fake:0")));
    fs::remove_all(package);
  }
}

TEST_F(Start, RefusesALibraryThatCallsItselfOtherwise) {
  make_fake(root_, "build", "usable");
  test::write_manifest(root_ / "build", test::fake_manifest("mine"));
  root_ /= "build";
  const ProgramResult result = start({"typed", "mine"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("calls itself build, its manifest mine"));
}

}  // namespace
}  // namespace lerobot
