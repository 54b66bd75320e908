// Resume equals not having stopped, bit for bit on the CPU.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;

/// Two episodes of 184 and about 100 frames in batches of 16: an epoch is under 20 updates, so runs of 40 cross it
/// twice.
const std::vector<std::string> kShortEpochs{"--dataset.episodes=[0]", "--batch_size=16", "--policy.optimizer_lr=1e-4",
                                            "--policy.dropout=0.1"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void expect_same_end(const fs::path& straight, const fs::path& resumed, const std::string& step) {
  EXPECT_EQ(column(straight, "loss"), column(resumed, "loss"));
  EXPECT_EQ(column(straight, "lr"), column(resumed, "lr"));
  for (const char* file : {"pretrained_model/model.safetensors", "training_state/optimizer_state.safetensors",
                           "training_state/rng_state.safetensors", "training_state/training_step.json"}) {
    EXPECT_TRUE(file_content(straight / "checkpoints" / step / file) ==
                file_content(resumed / "checkpoints" / step / file))
        << file << " differs";
  }
}

class Resume : public ::testing::Test {
 protected:
  fs::path folder_ = make_temporary_directory("resume");
  ~Resume() override { fs::remove_all(folder_); }
};

TEST_F(Resume, EqualsTheStraightRunAtAnyWorkerCountAndPastTheFirstEpoch) {
  train(small_act("pusht_keypoints", folder_ / "straight", with(kShortEpochs, {"--steps=40", "--save_freq=0"})));
  for (const auto& [split, workers] :
       std::vector<std::pair<std::string, std::string>>{{"5", "0"}, {"12", "3"}, {"27", "1"}}) {
    const fs::path run = folder_ / ("split" + split);
    train(small_act("pusht_keypoints", run, with(kShortEpochs, {"--steps=" + split, "--num_workers=" + workers})));
    train({"--resume=true", "--config_path=" + run.string(), "--steps=40", "--save_freq=0", "--num_workers=2"});
    expect_same_end(folder_ / "straight", run, "000040");
  }
}

TEST_F(Resume, EqualsTheStraightRunWithAccumulationAndASchedule) {
  const std::vector<std::string> more = with(
      kShortEpochs, {"--accelerator.gradient_accumulation.steps=3", "--scheduler.type=cosine_annealing_with_warmup",
                     "--scheduler.num_warmup_steps=4", "--steps=24"});
  train(small_act("pusht_keypoints", folder_ / "straight", with(more, {"--save_freq=0"})));
  // Saves fall due at 8 and 16, inside accumulation windows: they are made at 9 and 18.
  train(small_act("pusht_keypoints", folder_ / "run", with(more, {"--save_freq=8"})));
  EXPECT_TRUE(fs::exists(folder_ / "run/checkpoints/000009"));
  fs::remove_all(folder_ / "run/checkpoints/000024");
  fs::remove_all(folder_ / "run/checkpoints/000018");
  train({"--resume=true", "--config_path=" + (folder_ / "run/checkpoints/000009").string(), "--save_freq=0"});
  expect_same_end(folder_ / "straight", folder_ / "run", "000024");
}

TEST_F(Resume, EqualsTheStraightRunWithAnAverageOfTheWeights) {
  const std::vector<std::string> more = with(kShortEpochs, {"--ema.enable=true", "--num_threads=1"});
  train(small_act("pusht_keypoints", folder_ / "straight",
                  with(more, {"--steps=16", "--save_freq=0", "--num_workers=2"})));
  train(small_act("pusht_keypoints", folder_ / "run", with(more, {"--steps=5"})));
  train({"--resume=true", "--config_path=" + (folder_ / "run").string(), "--steps=16", "--save_freq=0",
         "--num_threads=1", "--num_workers=2"});
  expect_same_end(folder_ / "straight", folder_ / "run", "000016");
  for (const char* file : {"pretrained_model_ema/model.safetensors", "training_state/ema_state.pt"}) {
    EXPECT_TRUE(file_content(folder_ / "straight/checkpoints/000016" / file) ==
                file_content(folder_ / "run/checkpoints/000016" / file))
        << file << " differs";
  }
}

TEST_F(Resume, KeepsTheLengthOfTheScheduleHoweverLongTheRunIsToBe) {
  const std::vector<std::string> more{"--scheduler.type=cosine_annealing_with_warmup", "--scheduler.num_warmup_steps=2",
                                      "--num_threads=1", "--batch_size=2"};
  train(small_act("pusht_keypoints", folder_ / "run", with(more, {"--steps=6", "--save_freq=3"})));
  const std::vector<double> planned = column(folder_ / "run", "lr");
  const auto resume = [&](const fs::path& from, const std::string& to, const std::vector<std::string>& flags) {
    const Outcome outcome =
        run_program(train_program(), with({"--resume=true", "--config_path=" + from.string(), "--num_threads=1",
                                           "--output_dir=" + (folder_ / to).string()},
                                          flags));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    return outcome.out;
  };
  const std::string warning = "the learning rate's schedule keeps its length of 6 steps, though --steps is ";
  EXPECT_NE(resume(folder_ / "run/checkpoints/000003", "longer", {"--steps=9"}).find(warning + "9"), std::string::npos);
  const std::vector<double> kept = column(folder_ / "longer", "lr");
  ASSERT_EQ(kept.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(kept[i], planned[i + 3]) << i;
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(kept[i], planned.back()) << "the schedule is over";
  // The checkpoint of the longer run knows it, too.
  EXPECT_NE(resume(folder_ / "longer", "longest", {"--steps=10"}).find(warning + "10"), std::string::npos);
  EXPECT_EQ(resume(folder_ / "run/checkpoints/000003", "asked", {"--steps=9", "--schedule_steps=9"}).find(warning),
            std::string::npos);
  EXPECT_GT(column(folder_ / "asked", "lr")[4], 0.0);
}

TEST_F(Resume, EveryFormOfPathMeansTheSameRun) {
  train(small_act("pusht_keypoints", folder_ / "run", {"--steps=2", "--save_freq=1"}));
  for (const std::string form :
       {"run/", "run/checkpoints/000002", "run/checkpoints/last/pretrained_model/train_config.json"}) {
    const Outcome outcome =
        run_program(train_program(), {"--resume=true", "--config_path=" + (folder_ / "").string() + form, "--steps=3",
                                      "--output_dir=" + (folder_ / "run").string()});
    EXPECT_EQ(outcome.exit_code, 0) << form << "\n" << outcome.out;
    EXPECT_TRUE(fs::exists(folder_ / "run/checkpoints/000003")) << form;
    fs::remove_all(folder_ / "run/checkpoints/000003");
    fs::remove(folder_ / "run/checkpoints/last");
    fs::create_symlink("000002", folder_ / "run/checkpoints/last");
  }
}

TEST_F(Resume, CtrlCFinishesTheUpdateSavesAndExits130) {
  const std::vector<std::string> more = with(kShortEpochs, {"--save_freq=0"});
  Program program(train_program(), small_act("pusht_keypoints", folder_ / "run", with(more, {"--steps=100000"})));
  ASSERT_TRUE(program.wait_for_output("step:3 ")) << program.output();
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  const auto steps = column(folder_ / "run", "step");
  const auto stopped = static_cast<int>(steps.back());
  ASSERT_TRUE(fs::exists(folder_ / "run/checkpoints/last/training_state/training_step.json")) << outcome.out;

  const std::string total = std::to_string(stopped + 5);
  train({"--resume=true", "--config_path=" + (folder_ / "run").string(), "--steps=" + total});
  train(small_act("pusht_keypoints", folder_ / "straight", with(more, {"--steps=" + total})));
  EXPECT_EQ(column(folder_ / "straight", "loss"), column(folder_ / "run", "loss"));
}

}  // namespace
}  // namespace lerobot::test
