// Runs that train on nothing end, say why, and leave what was good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;

class Numerics : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  Outcome run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments =
        small_act("pusht_keypoints", folder_ / "run", {"--num_threads=1", "--batch_size=2"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(train_program(), arguments);
  }
  std::vector<std::string> checkpoints() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "run/checkpoints")) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder_ = make_temporary_directory("numerics");
};

TEST_F(Numerics, ALossThatIsNotFiniteNamesStepAndSamplesAndKeepsTheLastCheckpoint) {
  const Outcome stopped = run({"--optimizer.lr=1e18", "--steps=20", "--save_freq=1"});
  expect_error_line(stopped, 7,
                    {"is nan at step 2: training stopped, the last checkpoint is that of step 1. Its samples: row ",
                     "(episode ", "Their values are finite: a smaller learning rate may help"});
  EXPECT_THAT(checkpoints(), ::testing::ElementsAre("000001", "last"));
}

TEST_F(Numerics, IsNoticedBeforeACheckpointIsWrittenHoweverSeldomTheRunLogs) {
  const Outcome stopped = run({"--optimizer.lr=1e18", "--steps=20", "--save_freq=10", "--log_freq=0"});
  expect_error_line(stopped, 7, {"is nan at step 2: training stopped, no checkpoint was saved"});
  EXPECT_FALSE(fs::exists(folder_ / "run/checkpoints"));
}

TEST_F(Numerics, IsNoticedAtTheEndWithoutLogAndCheckpoint) {
  expect_error_line(run({"--optimizer.lr=1e18", "--steps=3", "--save_checkpoint=false", "--log_freq=0"}), 7,
                    {"at step 2"});
}

}  // namespace
}  // namespace lerobot::test
