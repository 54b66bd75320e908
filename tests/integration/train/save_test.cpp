// Saves beside the steps that follow change nothing: neither the run nor what they save. The disk is slowed down, so
// that many steps would fit into the time of one save.

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> kSlowDisk{{"LD_PRELOAD", SLOW_WRITE_LIBRARY}};

void train_slowly(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_program(train_program(), arguments, kSlowDisk);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  ASSERT_EQ(outcome.out.find("LD_PRELOAD"), std::string::npos) << outcome.out;  // a complaint of the dynamic loader
}

std::vector<std::string> averaged_act(const fs::path& output_dir, const std::vector<std::string>& more) {
  std::vector<std::string> arguments =
      small_act("pusht_keypoints", output_dir, {"--ema.enable=true", "--dataset.episodes=[0]"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class Save : public ::testing::Test {
 protected:
  fs::path folder_ = make_temporary_directory("save");
  ~Save() override { fs::remove_all(folder_); }
};

/// All files, but for the settings of the runs (their folder, their steps).
void expect_same_checkpoint(const fs::path& found, const fs::path& expected) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(expected)) {
    if (!entry.is_regular_file() || entry.path().filename() == "train_config.json") continue;
    const fs::path file = fs::relative(entry.path(), expected);
    EXPECT_TRUE(file_content(found / file) == file_content(entry.path())) << found / file << " differs";
    ++files;
  }
  EXPECT_EQ(files, 17U);
}

TEST_F(Save, BesideTrainingEqualsThatOfARunWhichStoppedThere) {
  train_slowly(averaged_act(folder_ / "run", {"--steps=3", "--save_freq=1"}));
  for (const std::string step : {"1", "2", "3"}) {
    train(averaged_act(folder_ / step, {"--steps=" + step, "--save_freq=0"}));
    expect_same_checkpoint(folder_ / "run/checkpoints" / ("00000" + step), folder_ / step / "checkpoints/last");
  }
  EXPECT_EQ(column(folder_ / "run", "loss"), column(folder_ / "3", "loss"));
}

TEST_F(Save, KilledBesideTrainingLeavesTheCheckpointBefore) {
  const fs::path run = folder_ / "run";
  train(averaged_act(run, {"--steps=1", "--save_freq=1"}));
  auto slower = kSlowDisk;  // seconds for a save: a busy machine kills late
  slower["SLOW_WRITE_MS"] = "20";
  for (const int delay_ms : {0, 100, 300}) {
    Program program(train_program(), {"--resume=true", "--config_path=" + run.string(), "--steps=100000"}, slower);
    ASSERT_TRUE(program.wait_for_output("Checkpoint policy after step")) << program.output();
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    program.send(SIGKILL);
    ASSERT_EQ(program.wait().exit_code, 128 + SIGKILL);
    EXPECT_EQ(fs::read_symlink(run / "checkpoints/last"), "000001") << "the save was over before the kill";
  }
  train({"--resume=true", "--config_path=" + run.string(), "--steps=3", "--save_freq=0"});
  EXPECT_TRUE(fs::exists(run / "checkpoints/000003"));
}

}  // namespace
}  // namespace lerobot::test
