#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <thread>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;

// A complete checkpoint exists at every instant after the first save, wherever the process dies.
TEST(Kill, AtAnyMomentTheNewestCompleteCheckpointResumes) {
  const fs::path folder = make_temporary_directory("kill");
  const fs::path run = folder / "run";
  train(small_act("pusht_keypoints", run, {"--steps=1", "--save_freq=1"}));
  std::mt19937 random(
      20);  // NOLINT(bugprone-random-generator-seed): the same moments each time, as far as clocks allow
  std::int64_t reached = 1;
  for (int i = 0; i < 20; ++i) {
    Program program(train_program(), {"--resume=true", "--config_path=" + run.string(), "--steps=100000"});
    ASSERT_TRUE(program.wait_for_output("step:")) << program.output();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    program.send(SIGKILL);
    ASSERT_EQ(program.wait().exit_code, 128 + SIGKILL);

    const auto steps = column(run, "step");
    ASSERT_GT(static_cast<std::int64_t>(steps.back()), reached) << "the run did not go on after kill " << i;
    reached = static_cast<std::int64_t>(steps.back()) - 2;  // the save of the step before the last may be in flight
    ASSERT_TRUE(fs::exists(run / "checkpoints/last/pretrained_model/model.safetensors"));
  }
  const std::string end = std::to_string(reached + 10);
  train({"--resume=true", "--config_path=" + run.string(), "--steps=" + end, "--save_freq=0"});
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lerobot::test
