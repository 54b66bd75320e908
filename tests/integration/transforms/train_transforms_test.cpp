// Training with image transforms.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kOn = "--dataset.image_transforms.enable=true";

class TrainTransforms : public ::testing::Test {
 protected:
  /// A small run on one short episode.
  std::vector<std::string> run(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> flags{"--dataset.episodes=[1]", "--batch_size=4", "--save_freq=0"};
    flags.insert(flags.end(), more.begin(), more.end());
    return small_act("pusht_sim_h264", folder_ / name, flags);
  }

  fs::path folder_ = make_temporary_directory("transforms");
  ~TrainTransforms() override { fs::remove_all(folder_); }
};

TEST_F(TrainTransforms, ResumeEqualsTheStraightRunAtAnyWorkerCount) {
  train(run("straight", {kOn, "--steps=4"}));
  train(run("resumed", {kOn, "--steps=2", "--num_workers=3"}));
  train({"--resume=true", "--config_path=" + (folder_ / "resumed").string(), "--steps=4", "--num_workers=1"});
  EXPECT_EQ(column(folder_ / "straight", "loss"), column(folder_ / "resumed", "loss"));
  const fs::path model = "checkpoints/000004/pretrained_model/model.safetensors";
  EXPECT_TRUE(file_content(folder_ / "straight" / model) == file_content(folder_ / "resumed" / model));
}

TEST_F(TrainTransforms, ChangeWhatIsTrainedOnAndNotWhatIsHeldOut) {
  const auto flags = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--dataset.episodes=[1,2]",
                                 "--dataset.eval_split=0.5",
                                 "--eval_steps=1",
                                 "--max_eval_samples=8",
                                 "--steps=1",
                                 "--batch_size=4",
                                 "--policy.optimizer_lr=0",
                                 "--save_checkpoint=false",
                                 "--policy.optimizer_lr_backbone=0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  train(run("off", flags({})));
  const Outcome on =
      run_program(train_program(), run("on", flags({kOn, "--dataset.image_transforms.max_num_transforms=2"})));
  ASSERT_EQ(on.exit_code, 0) << on.out;
  EXPECT_THAT(on.out, HasSubstr("Image transforms: 2 of brightness, contrast, saturation, hue, sharpness, affine"));
  ASSERT_EQ(column(folder_ / "on", "eval_loss").size(), 1U);
  EXPECT_EQ(column(folder_ / "on", "eval_loss"), column(folder_ / "off", "eval_loss"));
  EXPECT_NE(column(folder_ / "on", "loss"), column(folder_ / "off", "loss"));
}

TEST_F(TrainTransforms, ThatAreNotSupportedAreRefusedBeforeAnythingIsMade) {
  const std::string tfs =
      R"(--dataset.image_transforms.tfs={"soft": {"type": "GaussianBlur", "kwargs": {"kernel_size": 3}}})";
  const Outcome outcome = run_program(train_program(), run("refused", {kOn, tfs, "--steps=1"}));
  expect_error_line(outcome, 3, {"dataset.image_transforms.tfs.soft.type: found GaussianBlur", "ColorJitter"});
  EXPECT_FALSE(fs::exists(folder_ / "refused"));
  // What is off is not looked at.
  const Outcome off = run_program(train_program(), run("off", {tfs, "--steps=1", "--save_checkpoint=false"}));
  EXPECT_EQ(off.exit_code, 0) << off.out;
}

}  // namespace
}  // namespace lerobot::test
