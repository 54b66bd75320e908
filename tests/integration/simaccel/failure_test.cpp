// A device that fails: one clear line, the exit code of its kind, and no half-written checkpoint.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "host/base/exit_status.h"
#include "tests/integration/simaccel/sim_support.h"
#include "tests/simaccel/counters.h"

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

TEST_F(SimaccelFailure, MemoryThatRunsOutIsToldWithThePlaceAndWhatToLower) {
  // Places are found by the number of allocations before and after them.
  const auto flags = [&](const std::string& name, const std::vector<std::string>& more) {
    return on_simaccel(tiny_act("pusht_keypoints", folder_.path / name, with({"--save_checkpoint=false"}, more)));
  };
  const std::vector<std::string> evaluating{"--steps=1", "--dataset.eval_split=0.2", "--eval_steps=1",
                                            "--max_eval_samples=8"};
  const auto allocations = [&](const std::string& name, const std::vector<std::string>& more) {
    const std::string file = (folder_.path / (name + ".counters")).string();
    run(flags(name, more), {{"LEROBOT_SIMACCEL_COUNTERS", file}});
    return static_cast<double>(simaccel::map_counters(file.c_str()).devices[0].allocations.load());
  };
  const double begin = allocations("none", {"--steps=0"});
  const double step = allocations("one", {"--steps=1"}) - begin;
  const double evaluated = allocations("evaluated", evaluating);
  struct Case {
    std::string place;
    double at;
    std::vector<std::string> more;
  };
  for (const Case& c : {Case{"the forward pass", begin + step * 0.05, {"--steps=1"}},
                        Case{"the backward pass", begin + step * 0.38, {"--steps=1"}},
                        Case{"the optimizer", begin + step * 0.97, {"--steps=1"}},
                        Case{"the evaluation", begin + step + (evaluated - begin - step) * 0.5, evaluating}}) {
    const std::string controls = "oom_at=" + std::to_string(static_cast<std::int64_t>(c.at));
    expect_error_line(run_program(train_program(), flags(c.place, c.more), {{"LEROBOT_SIMACCEL", controls}}), 8,
                      {"simaccel:0 ran out of memory in " + c.place + ": batch size 4, precision ",
                       " GiB in use by tensors", "Lower --batch_size", "bf16"});
  }
}

TEST_F(SimaccelFailure, SigtermBeforeTheFirstStepAsksForARestartAndLeavesNothingInItsWay) {
  const std::string controls = (folder_.path / "controls").string();
  std::ofstream(controls) << "delay_us=20000";  // the making of the model takes seconds
  const std::vector<std::string> flags = on_simaccel(tiny_act(
      "pusht_keypoints", output_, {"--steps=1", "--dataset.eval_split=0.2", "--dataset.episodes=[0,1,2,3,4]"}));
  Program program(train_program(), flags, {{"LEROBOT_SIMACCEL_FILE", controls}});
  ASSERT_TRUE(program.wait_for_output("Train/eval split")) << program.output();
  program.send(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::ofstream(controls) << "";
  const Outcome stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, kExitRestart) << stopped.out;
  EXPECT_THAT(stopped.out, HasSubstr("SIGTERM before the first step"));
  run(flags);  // into the same folder
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
