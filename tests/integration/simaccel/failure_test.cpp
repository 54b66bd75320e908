// A device that fails: one clear line, the exit code of its kind, and no half-written checkpoint.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/simaccel/sim_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SimaccelFailure : public ::testing::Test {
 protected:
  Folder folder_;
  fs::path output_ = folder_.path / "run";

  Outcome train_with(const std::string& controls, const std::string& device = "simaccel") {
    const auto arguments = tiny_act("pusht_keypoints", output_, {"--steps=20", "--save_freq=2"});
    return run_program(train_program(), on_simaccel(arguments, device), {{"LEROBOT_SIMACCEL", controls}});
  }
};

TEST_F(SimaccelFailure, MemoryThatRunsOutInTrainingKeepsTheLastCheckpointWhole) {
  // Some way into the fourth update or so: the number of allocations of an update is no promise.
  const Outcome outcome = train_with("oom_at=6000");
  expect_error_line(outcome, 8, {"simaccel:0 is out of memory", "--batch_size"});
  ASSERT_TRUE(fs::exists(output_ / "checkpoints/last")) << outcome.out;
  EXPECT_FALSE(fs::exists(output_ / "checkpoints/000020"));
  for (const auto& entry : fs::directory_iterator(output_ / "checkpoints")) {
    EXPECT_TRUE(fs::exists(entry.path() / "training_state/optimizer_param_groups.json")) << entry.path();
  }
  run(on_simaccel({"--resume=true", "--config_path=" + output_.string(), "--steps=20", "--num_threads=1"}));
}

TEST_F(SimaccelFailure, ADeviceTooSmallForTheModelIsOutOfMemory) {
  expect_error_line(train_with("memory=100000"), 8, {"simaccel:0 is out of memory", "of 100000 in use"});
  EXPECT_FALSE(fs::exists(output_ / "checkpoints"));
}

TEST_F(SimaccelFailure, ADeviceIndexThatIsNotThere) {
  expect_error_line(train_with("", "simaccel:9"), 5, {"9", "simaccel", "2 visible devices"});
  expect_error_line(train_with("devices=0"), 5, {"devices=0"});
}

TEST_F(SimaccelFailure, ADeviceThatCannotAddFailsItsSelftest) {
  expect_error_line(train_with("wrong_sums=yes"), 5, {"selftest", "addition"});
}

TEST_F(SimaccelFailure, APrecisionThatTheDeviceLacksIsRefusedWithTheReason) {
  const auto arguments = tiny_act("pusht_keypoints", output_, {"--steps=1", "--accelerator.mixed_precision=bf16"});
  const Outcome outcome = run_program(train_program(), on_simaccel(arguments), {{"LEROBOT_SIMACCEL", "bf16=none"}});
  expect_error_line(outcome, 3, {"mixed_precision=bf16", "has no bf16"});
}

TEST_F(SimaccelFailure, ControlsThatDoNotExistAreNamed) {
  const Outcome outcome = train_with("speed=11");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("speed=11"));
}

}  // namespace
}  // namespace lerobot::test
