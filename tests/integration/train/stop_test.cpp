// Runs that a signal stops, and what their exit codes ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "host/base/exit_status.h"
#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Stop : public ::testing::Test {
 protected:
  fs::path folder_ = make_temporary_directory("stop");
  ~Stop() override { fs::remove_all(folder_); }
};

std::string last_checkpoint(const fs::path& run) {
  return fs::read_symlink(run / "checkpoints/last");
}

/// The rest of the line after `text`.
std::string line_after(const std::string& output, const std::string& text) {
  const std::size_t at = output.find(text);
  if (at == std::string::npos) return "";
  return output.substr(at + text.size(), output.find('\n', at) - at - text.size());
}

TEST_F(Stop, SigtermSavesAndThePrintedCommandGoesOnWhateverThePathsHold) {
  const fs::path odd = folder_ / "my d\u00e4ta/\u65e5\u672c 'x' \"y\"";
  fs::create_directories(odd);
  fs::copy(test_data("datasets/pusht_keypoints"), odd / "the set", fs::copy_options::recursive);
  fs::create_directory_symlink(LEROBOT_STAGE "/lib/lerobot/accel.d", odd / "plug ins");
  const fs::path run = odd / "run";
  const std::vector<std::string> flags =
      small_act("pusht_keypoints", run,
                {"--steps=100000", "--save_freq=0", "--num_threads=1", "--dataset.root=" + (odd / "the set").string(),
                 "--plugins=" + (odd / "plug ins").string()});
  Program program(train_program(), flags);
  ASSERT_TRUE(program.wait_for_output("step:3 ")) << program.output();
  program.send(SIGTERM);
  const Outcome stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, kExitRestart) << stopped.out;
  const std::string step = std::to_string(static_cast<int>(column(run, "step").back()));
  EXPECT_THAT(stopped.out, HasSubstr("SIGTERM: stopping after step " + step));
  EXPECT_EQ(std::to_string(std::stoi(last_checkpoint(run))), step);

  const std::string command = line_after(stopped.out, "To go on: lerobot-train ");
  const int more = std::stoi(step) + 2;
  const Outcome resumed = run_program(
      "/bin/sh", {"-c", train_program() + " " + command + " --num_threads=1 --steps=" + std::to_string(more)});
  EXPECT_EQ(resumed.exit_code, 0) << command << "\n" << resumed.out;
  EXPECT_EQ(std::stoi(last_checkpoint(run)), more);
  const auto steps = column(run, "step");
  ASSERT_EQ(steps.size(), static_cast<std::size_t>(more)) << "each step is in the records once";
  for (int i = 0; i < more; ++i) EXPECT_EQ(steps[static_cast<std::size_t>(i)], i + 1);
}

TEST_F(Stop, ASecondSigtermEndsAtOnceAndTheCheckpointBeforeStays) {
  const fs::path run = folder_ / "run";
  train(small_act("pusht_keypoints", run, {"--steps=1"}));
  const std::map<std::string, std::string> slow{{"LD_PRELOAD", SLOW_WRITE_LIBRARY}, {"SLOW_WRITE_MS", "50"}};
  const std::vector<std::string> resume{"--resume=true", "--config_path=" + run.string(), "--save_freq=0"};
  std::vector<std::string> more = resume;
  more.insert(more.end(), {"--steps=100000", "--num_threads=1"});
  Program program(train_program(), more, slow);
  ASSERT_TRUE(program.wait_for_output("step:2 ")) << program.output();
  program.send(SIGTERM);
  ASSERT_TRUE(program.wait_for_output("Checkpoint policy after step")) << program.output();
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM) << program.output();
  EXPECT_EQ(last_checkpoint(run), "000001");
  more = resume;
  more.push_back("--steps=2");
  train(more);
  EXPECT_EQ(last_checkpoint(run), "000002");
}

}  // namespace
}  // namespace lerobot::test
