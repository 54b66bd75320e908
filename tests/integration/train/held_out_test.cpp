// Losses on held-out episodes, taken while the program trains: Python's own, and without a trace in the training.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "host/base/json.h"
#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class HeldOut : public ::testing::Test {
 protected:
  fs::path folder_ = make_temporary_directory("held_out");
  ~HeldOut() override { fs::remove_all(folder_); }
};

/// One thread: small products gain nothing from a second, and lose much where processors are shared.
std::vector<std::string> on_one_thread(std::vector<std::string> flags) {
  flags.push_back("--num_threads=1");
  return flags;
}

/// The numbers of the records within a hundred-thousandth, as the traces without evaluations are.
void expect_near(const boost::json::object& found, const boost::json::object& expected) {
  for (const auto& [key, value] : expected) {
    const double number = value.to_number<double>();
    EXPECT_NEAR(found.at(key).to_number<double>(), number, std::abs(number) * 1e-5)
        << key << " at step " << expected.at("step");
  }
}

std::string tensorboard_bytes(const fs::path& run) {
  std::string bytes;
  for (const auto& entry : fs::directory_iterator(run / "tensorboard")) bytes += file_content(entry.path());
  return bytes;
}

// Dropout and the VAE draw from the same generator as the loaders: the losses after an evaluation tell whether as many
// numbers were drawn as in Python.
TEST_F(HeldOut, LossesOfTrainingAndEvaluationFollowPython) {
  const auto golden = json::read_file(test_data("goldens/held_out.json"), ErrorKind::kData);
  for (const auto& [name, recorded] : golden.as_object()) {
    SCOPED_TRACE(name);
    const fs::path run = folder_ / std::string(name);
    train(on_one_thread(recorded_flags(recorded.at("command"), run)));
    const auto& updates = recorded.at("updates").as_array();
    const auto& evaluations = recorded.at("evaluations").as_array();
    const auto records = metrics(run);
    ASSERT_EQ(records.size(), updates.size() + evaluations.size());
    std::size_t update = 0, evaluation = 0;
    for (const auto& record : records) {
      const bool is_update = record.contains("loss");
      expect_near(record, (is_update ? updates.at(update++) : evaluations.at(evaluation++)).as_object());
    }
    EXPECT_THAT(tensorboard_bytes(run), HasSubstr("eval/eval_loss"));
  }
}

/// 9 episodes to train on, evaluations of 40 frames after every second update.
const std::vector<std::string> kSplit{"--dataset.eval_split=0.2", "--max_eval_samples=40", "--eval_steps=2",
                                      "--batch_size=16"};

std::vector<std::string> split_run(const fs::path& run, const std::vector<std::string>& more) {
  std::vector<std::string> flags = small_act("pusht_keypoints", run, kSplit);
  flags.insert(flags.end(), more.begin(), more.end());
  return on_one_thread(std::move(flags));
}

void expect_same_run(const fs::path& straight, const fs::path& resumed) {
  EXPECT_EQ(column(straight, "loss"), column(resumed, "loss"));
  EXPECT_EQ(column(straight, "eval_loss"), column(resumed, "eval_loss"));
  for (const char* file : {"pretrained_model/model.safetensors", "training_state/rng_state.safetensors"}) {
    EXPECT_TRUE(file_content(straight / "checkpoints/last" / file) == file_content(resumed / "checkpoints/last" / file))
        << file << " differs";
  }
}

TEST_F(HeldOut, ResumedRunEqualsTheStraightOneAtAnyNumberOfWorkers) {
  train(split_run(folder_ / "straight", {"--steps=10", "--save_freq=0"}));
  train(split_run(folder_ / "run", {"--steps=4", "--num_workers=2"}));
  train({"--num_threads=1", "--resume=true", "--config_path=" + (folder_ / "run").string(), "--steps=10",
         "--num_workers=1"});
  EXPECT_EQ(column(folder_ / "straight", "eval_loss").size(), 5U);
  expect_same_run(folder_ / "straight", folder_ / "run");
}

TEST_F(HeldOut, ResumedRunEqualsTheStraightOneWithAccumulation) {
  const std::vector<std::string> more{"--accelerator.gradient_accumulation.steps=3", "--steps=12", "--save_freq=4"};
  train(split_run(folder_ / "straight", more));
  train(split_run(folder_ / "run", more));
  // Due at 4, made at 6, where the window ends: two evaluations were inside it.
  for (const char* later : {"000009", "000012"}) fs::remove_all(folder_ / "run/checkpoints" / later);
  train({"--num_threads=1", "--resume=true", "--config_path=" + (folder_ / "run/checkpoints/000006").string()});
  expect_same_run(folder_ / "straight", folder_ / "run");
}

TEST_F(HeldOut, CtrlCDuringAnEvaluationSavesAndTheRunGoesOnAsIfNothingHappened) {
  // 11 of 12 episodes one frame at a time: more than a thousand batches.
  const std::vector<std::string> more{"--dataset.eval_split=0.9", "--batch_size=1", "--eval_steps=3", "--steps=5",
                                      "--save_freq=0"};
  std::vector<std::string> long_evaluation = split_run(folder_ / "run", more);
  long_evaluation.push_back("--max_eval_samples=0");
  Program program(train_program(), long_evaluation);
  ASSERT_TRUE(program.wait_for_output("step:3 ")) << program.output();
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  EXPECT_THAT(outcome.out, Not(HasSubstr("eval_loss=")));
  EXPECT_TRUE(column(folder_ / "run", "eval_loss").empty());

  train({"--num_threads=1", "--resume=true", "--config_path=" + (folder_ / "run").string()});
  // How much an evaluation looks at does not matter to the training.
  train(split_run(folder_ / "straight", more));
  EXPECT_EQ(column(folder_ / "straight", "loss"), column(folder_ / "run", "loss"));
}

TEST_F(HeldOut, LossIsTakenInTheRunsPrecision) {
  // With a rate of 0 the parameters stay equal: what differs is the evaluation.
  const auto flags = [&](const std::string& precision) {
    return split_run(folder_ / precision,
                     {"--steps=2", "--policy.optimizer_lr=0", "--accelerator.mixed_precision=" + precision});
  };
  train(flags("no"));
  train(flags("bf16"));
  const double in_float32 = column(folder_ / "no", "eval_loss").at(0);
  const double in_bfloat16 = column(folder_ / "bf16", "eval_loss").at(0);
  EXPECT_NEAR(in_bfloat16, in_float32, in_float32 * 2e-2);
  EXPECT_GT(std::abs(in_bfloat16 - in_float32), in_float32 * 1e-6) << "not in bfloat16";
}

TEST_F(HeldOut, SplitWithoutEvaluationsStillHoldsEpisodesOut) {
  const Outcome outcome = run_program(train_program(), split_run(folder_ / "run", {"--eval_steps=0", "--steps=1"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("Train/eval split: 9 train, 3 eval (eval_split=0.2, 1 tasks)"));
  EXPECT_THAT(outcome.out, HasSubstr("dataset.num_frames=959 (959)"));
  EXPECT_THAT(outcome.out, HasSubstr("dataset.num_episodes=9"));
  EXPECT_TRUE(column(folder_ / "run", "eval_loss").empty());
}

TEST_F(HeldOut, SplitThatLeavesNothingToTrainOnIsRefused) {
  const Outcome outcome =
      run_program(train_program(), split_run(folder_ / "run", {"--dataset.episodes=[4]", "--steps=1"}));
  expect_error_line(outcome, 4, {"--dataset.eval_split=0.2", "all 1 episodes"});
  expect_error_line(run_program(train_program(), split_run(folder_ / "run", {"--dataset.eval_split=0"})), 2,
                    {"--eval_steps", "--dataset.eval_split"});
}

}  // namespace
}  // namespace lerobot::test
