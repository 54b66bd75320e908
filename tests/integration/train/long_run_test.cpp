// What a run takes up does not grow with its length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "host/base/exit_status.h"
#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;

/// KiB.
std::int64_t memory_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string word; in >> word;) {
    std::int64_t value = 0;
    if (word == "VmRSS:" && in >> value) return value;
  }
  return -1;
}

std::int64_t files_of(pid_t process) {
  return std::distance(fs::directory_iterator("/proc/" + std::to_string(process) + "/fd"), fs::directory_iterator());
}

std::string maps_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/maps");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Steps, log lines, epochs, evaluations and saves, of a network as small as can be.
TEST(LongRun, TakesNoMoreMemoryAndFilesAfterTwoThousandStepsThanAfterOneThousand) {
  constexpr std::int64_t kBound = 4 * 1024;  // KiB in a thousand steps
  const fs::path folder = make_temporary_directory("long_run");
  const fs::path run = folder / "run";
  Program program(
      train_program(),
      small_act("pusht_keypoints", run,
                {"--steps=100000", "--batch_size=2", "--num_threads=1", "--num_workers=2", "--log_freq=1000",
                 "--policy.dim_model=16", "--policy.n_heads=2", "--policy.dim_feedforward=16",
                 "--policy.n_encoder_layers=1", "--policy.n_vae_encoder_layers=1", "--policy.latent_dim=4",
                 "--policy.chunk_size=4", "--policy.n_action_steps=4", "--save_freq=250", "--keep_last_checkpoints=2",
                 "--dataset.eval_split=0.2", "--eval_steps=250", "--max_eval_samples=20", "--ema.enable=true"}));
  ASSERT_TRUE(program.wait_for_output("step:1K ", std::chrono::seconds(200))) << program.output();
  const std::int64_t memory = memory_of(program.pid());
  const std::int64_t files = files_of(program.pid());
  EXPECT_THAT(maps_of(program.pid()), ::testing::Not(::testing::HasSubstr("/dev/shm"))) << "workers are threads";
  ASSERT_TRUE(program.wait_for_output("step:2K ", std::chrono::seconds(200))) << program.output();
  EXPECT_LE(memory_of(program.pid()), memory + kBound) << "KiB after 1000 steps: " << memory;
  constexpr std::int64_t kOfASave = 30;  // one may be under way, with all its files open
  EXPECT_LE(files_of(program.pid()), files + kOfASave);
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, kExitRestart);
  std::size_t checkpoints = 0;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints")) checkpoints += entry.is_symlink() ? 0 : 1;
  EXPECT_EQ(checkpoints, 2U);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lerobot::test
