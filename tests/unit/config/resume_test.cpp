#include <gmock/gmock.h>

#include "tests/unit/config/config_test_tools.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A run with steps 20 and 30 whose `last` is the second.
class Resume : public testing::Test {
 protected:
  Resume() {
    for (const char* step : {"000020", "000030"}) {
      const fs::path step_directory = fs::path("outputs/act_keypoints/checkpoints") / step;
      fs::create_directories(step_directory);
      fs::copy(checkpoint_directory("act_keypoints", step), step_directory / "pretrained_model");
    }
    fs::create_directory_symlink("000030", "outputs/act_keypoints/checkpoints/last");
  }

  TrainCommand resume(const std::string& path, const Arguments& more = {}) {
    Arguments all{"--resume=true", "--config_path=" + path};
    all.insert(all.end(), more.begin(), more.end());
    return parse(all);
  }
  Refusal refused(const std::string& path, const Arguments& more = {}) {
    Arguments all{"--resume=true", "--config_path=" + path};
    all.insert(all.end(), more.begin(), more.end());
    return refusal_of(all);
  }

  /// With what else a checkpoint needs.
  static void complete(const std::string& step) {
    const fs::path whole = checkpoint_directory("act_keypoints", step).parent_path();
    fs::copy(whole / "training_state", kCheckpoints / step / "training_state");
  }
  static void point_last_at(const fs::path& target) {
    fs::remove(kCheckpoints / "last");
    fs::create_directory_symlink(target, kCheckpoints / "last");
  }
  /// The step that all forms which leave the choice open mean, and the warning about it.
  std::string newest_step() {
    const std::string run = "outputs/act_keypoints";
    std::string step;
    warning_ = logged([&] { step = resume(run).checkpoint->filename(); });
    for (const std::string& form :
         {run + "/", run + "/checkpoints", run + "/checkpoints/last", run + "/checkpoints/last/",
          run + "/checkpoints/last/pretrained_model", run + "/checkpoints/last/pretrained_model/train_config.json"}) {
      logged([&] { EXPECT_EQ(resume(form).checkpoint->filename(), step) << form; });
      logged([&] { EXPECT_EQ(resume((here_.path() / form).string()).checkpoint->filename(), step) << form; });
    }
    return step;
  }

  static inline const fs::path kCheckpoints = "outputs/act_keypoints/checkpoints";
  TemporaryDirectory here_;
  std::string warning_;
};

TEST_F(Resume, AllFormsOfThePathMeanTheSameCheckpoint) {
  const fs::path wanted = here_.path() / "outputs/act_keypoints/checkpoints/000030";
  const std::string run = "outputs/act_keypoints";
  for (const std::string& form :
       {run, run + "/checkpoints/last", run + "/checkpoints/000030", run + "/checkpoints/last/pretrained_model",
        run + "/checkpoints/last/pretrained_model/train_config.json", run + "/checkpoints"}) {
    EXPECT_EQ(*resume(form).checkpoint, wanted) << form;
    EXPECT_EQ(*resume((here_.path() / form).string()).checkpoint, wanted) << form;
    EXPECT_EQ(*resume("./outputs/../" + form).checkpoint, wanted) << form;
    if (form.ends_with(".json")) continue;
    EXPECT_EQ(*resume(form + "/").checkpoint, wanted) << form;
  }
  EXPECT_EQ(resume(run + "/checkpoints/000020").checkpoint->filename(), "000020");
  fs::create_directory_symlink("outputs/act_keypoints", "linked");
  EXPECT_TRUE(fs::equivalent(*resume("linked").checkpoint, wanted));
  fs::current_path(wanted / "pretrained_model");
  EXPECT_EQ(*resume("train_config.json").checkpoint, wanted);
  EXPECT_EQ(*resume(".").checkpoint, wanted);
}

TEST_F(Resume, NotesWhatItContinues) {
  const TrainCommand command = resume("outputs/act_keypoints/checkpoints/last");
  EXPECT_TRUE(command.config.resume);
  EXPECT_EQ(command.config.checkpoint_path, "outputs/act_keypoints/checkpoints/000030");
  EXPECT_EQ(common(*command.config.policy).pretrained_path,
            "outputs/act_keypoints/checkpoints/000030/pretrained_model");
  EXPECT_EQ(command.config.output_dir, "outputs/act_keypoints");
}

TEST_F(Resume, OtherPathsListWhatWasLookedForAndTheStepsThereAre) {
  fs::create_directory("empty");
  Refusal refusal = refused("empty");
  EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("empty/train_config.json"), HasSubstr("no checkpoints")));
  EXPECT_THAT(refused("outputs/act_keypoints/checkpoints/000025").message,
              AllOf(HasSubstr("000020, 000030"), HasSubstr("--config_path=outputs/act_keypoints/checkpoints/000030")));
  EXPECT_THAT(refused("no/such/place").message, HasSubstr("no such file or directory"));
  EXPECT_THAT(refused("org/name").message, HasSubstr("hub"));
  fs::remove("outputs/act_keypoints/checkpoints/last");
  EXPECT_THAT(refused("outputs/act_keypoints").message, HasSubstr("Steps there: 000020, 000030"));
}

TEST_F(Resume, TakesTheNewestCompleteCheckpointAndSaysWhenItIsNotThatOfLast) {
  complete("000020");
  complete("000030");
  EXPECT_EQ(newest_step(), "000030");
  EXPECT_EQ(warning_, "");
  // Another branch of the run goes on from an earlier step: `last` is newer than the highest number.
  point_last_at("000020");
  EXPECT_EQ(newest_step(), "000020");
  EXPECT_EQ(warning_, "");
  // A save that was killed after its checkpoint was in place.
  fs::create_directory_symlink("000030", kCheckpoints / ".tmp-last");
  EXPECT_EQ(newest_step(), "000030");
  EXPECT_THAT(warning_, AllOf(HasSubstr("000030: the newest complete checkpoint is taken"), HasSubstr("interrupted")));
  // One that was killed before.
  fs::remove(kCheckpoints / ".tmp-last");
  fs::create_directory_symlink("000040", kCheckpoints / ".tmp-last");
  EXPECT_EQ(newest_step(), "000020");
  for (const char* nowhere : {"000040", "."}) {
    point_last_at(nowhere);
    EXPECT_EQ(newest_step(), "000030") << nowhere;
    EXPECT_THAT(warning_, HasSubstr("`last`")) << nowhere;
  }
  fs::remove(kCheckpoints / "last");
  EXPECT_EQ(newest_step(), "000030");
  fs::resize_file(kCheckpoints / "000030/training_state/optimizer_state.safetensors", 100'000);
  EXPECT_EQ(newest_step(), "000020");
  point_last_at("000030");
  EXPECT_EQ(newest_step(), "000020");
  EXPECT_THAT(warning_, AllOf(HasSubstr("000020: the newest"), HasSubstr("optimizer_state.safetensors")));
  EXPECT_EQ(resume("outputs/act_keypoints/checkpoints/000030").checkpoint->filename(), "000030") << "as typed";
}

TEST_F(Resume, FollowsThePointerFileThatStandsForALink) {
  complete("000020");
  complete("000030");
  fs::remove(kCheckpoints / "last");
  here_.write(kCheckpoints / "last", "000020\n");
  EXPECT_EQ(newest_step(), "000020");
  EXPECT_EQ(warning_, "");
  here_.write(kCheckpoints / "last", "000025\n");
  EXPECT_EQ(newest_step(), "000030");
  fs::current_path(kCheckpoints);
  EXPECT_EQ(resume("last").checkpoint->filename(), "000030");
  EXPECT_EQ(resume(".").checkpoint->filename(), "000030");
}

TEST_F(Resume, PutsACheckpointBackThatASaveHadMovedAside) {
  complete("000030");
  fs::rename(kCheckpoints / "000030", kCheckpoints / ".old-000030");
  EXPECT_EQ(newest_step(), "000030");
  EXPECT_TRUE(fs::exists(kCheckpoints / "000030/pretrained_model"));
}

TEST_F(Resume, NeedsACheckpoint) {
  fs::copy(checkpoint_directory("act_keypoints") / "train_config.json", "train_config.json");
  EXPECT_THAT(refused("train_config.json").message, HasSubstr("needed one to resume"));
  EXPECT_EQ(refused("outputs/act_keypoints", {"--policy.path=x"}).kind, ErrorKind::kConfig);
  EXPECT_EQ(
      refused("outputs/act_keypoints", {"--policy.path=outputs/act_keypoints/checkpoints/last/pretrained_model"}).kind,
      ErrorKind::kUsage);
}

TEST_F(Resume, KeepsTheStoredOptimizerAndTakesOtherFlags) {
  const TrainCommand command =
      resume("outputs/act_keypoints", {"--steps=50", "--optimizer.grad_clip_norm=1", "--optimizer.lr=1e-5"});
  EXPECT_EQ(command.config.steps, 50);
  EXPECT_EQ(std::get<AdamWConfig>(*command.config.optimizer).grad_clip_norm, 1.0);
  EXPECT_EQ(std::get<AdamWConfig>(*command.config.optimizer).lr, 1e-5);
  EXPECT_THAT(refused("outputs/act_keypoints", {"--optimizer.lr=0.1"}).message,
              AllOf(HasSubstr("--optimizer.lr: found 0.1"), HasSubstr("1e-05")));
  EXPECT_EQ(refused("outputs/act_keypoints", {"--policy.optimizer_lr=0.1"}).kind, ErrorKind::kUsage);
}

TEST_F(Resume, WithoutResumeTheFileIsATemplateForANewRun) {
  const TrainCommand command =
      parse({"--config_path=outputs/act_keypoints", "--output_dir=other", "--policy.optimizer_lr=1e-3"});
  EXPECT_FALSE(command.checkpoint);
  EXPECT_EQ(std::get<AdamWConfig>(*command.config.optimizer).lr, 1e-3);
  const Refusal refusal = refusal_of({"--config_path=outputs/act_keypoints"});
  EXPECT_EQ(refusal.kind, ErrorKind::kConfig);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("outputs/act_keypoints"), HasSubstr("--resume=true")));
}

}  // namespace
}  // namespace lerobot::config
