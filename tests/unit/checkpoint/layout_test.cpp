#include "host/checkpoint/layout.h"

#include <gmock/gmock.h>

#include "host/base/log.h"
#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::HasSubstr;

using Layout = CheckpointTest;

TrainingStep only_step(std::int64_t step) {
  TrainingStep out;
  out.step = step;
  return out;
}

TEST_F(Layout, TheLatestIsTheHighestStepThatIsComplete) {
  const auto find_latest = [](const fs::path& run) {
    const auto newest = runs::find_newest(run);
    return newest ? std::optional(newest->checkpoint) : std::nullopt;
  };
  EXPECT_EQ(find_latest(scratch() / "run"), std::nullopt);
  const fs::path twenty = copy_checkpoint();
  const fs::path thirty = copy_checkpoint(python_checkpoint().parent_path() / "000030");
  EXPECT_EQ(find_latest(scratch() / "run"), thirty);
  fs::resize_file(thirty / kTrainingState / kOptimizerFile, 1'000'000);
  EXPECT_THAT(find_defect(thirty).value_or(""), HasSubstr("optimizer_state.safetensors"));
  EXPECT_EQ(find_latest(scratch() / "run"), twenty);
  fs::rename(twenty, twenty.parent_path() / ".tmp-000040");
  EXPECT_EQ(find_latest(scratch() / "run"), std::nullopt);
}

TEST_F(Layout, ComparesStepsAsNumbers) {
  fs::create_directories(scratch() / "checkpoints" / "1000000");
  fs::create_directories(scratch() / "checkpoints" / "999999");
  fs::create_directories(scratch() / "checkpoints" / "pretrained");
  EXPECT_THAT(list_checkpoints(scratch()),
              ::testing::ElementsAre(scratch() / "checkpoints/1000000", scratch() / "checkpoints/999999"));
}

TEST_F(Layout, ACheckpointWithoutOneOfItsFilesIsNotComplete) {
  for (const char* file :
       {"pretrained_model/config.json", "pretrained_model/train_config.json", "pretrained_model/model.safetensors",
        "training_state/training_step.json", "training_state/rng_state.safetensors",
        "training_state/optimizer_state.safetensors", "training_state/optimizer_param_groups.json"}) {
    const fs::path copy = copy_checkpoint();
    EXPECT_TRUE(is_complete(copy));
    fs::remove(copy / file);
    EXPECT_THAT(find_defect(copy).value_or("complete"), HasSubstr(file));
  }
  EXPECT_FALSE(is_complete(data("checkpoints/act_pusht/checkpoints/000020")));
}

TEST_F(Layout, ACheckpointWithADamagedAverageIsNotComplete) {
  const fs::path copy = copy_checkpoint();
  const fs::path average = copy / kTrainingState / kEmaFile;
  fs::copy_file(data("goldens/ema_state.pt"), average);
  EXPECT_TRUE(is_complete(copy));
  fs::resize_file(average, fs::file_size(average) - 1);
  EXPECT_THAT(find_defect(copy).value_or("complete"), HasSubstr("ema_state.pt"));
  rewrite(average, "");
  EXPECT_THAT(find_defect(copy).value_or("complete"), HasSubstr("ema_state.pt"));
}

TEST_F(Layout, ReadsATrainingStepOfAnyAge) {
  const fs::path file = scratch() / "training_step.json";
  rewrite(file, R"({"step": 7})");
  EXPECT_EQ(read_training_step(file), only_step(7));
  rewrite(file, R"({"step": 7, "num_processes": 2})");
  EXPECT_EQ(read_training_step(file).dp_world_size, 2);
  EXPECT_EQ(read_training_step(file).skipped_updates, 0);
  rewrite(file, R"({"step": 7, "skipped_updates": 3})");
  EXPECT_EQ(read_training_step(file).skipped_updates, 3);
  rewrite(file, R"({"step": 7, "schedule_steps": 40})");
  EXPECT_EQ(read_training_step(file).schedule_steps, 40);
  for (const char* bad :
       {"{}", "[]", R"({"step": "7"})", R"({"step": -1})", R"({"step": 1.5})", R"({"step": 1, "batch_size": 0})",
        R"({"step": 1, "parallelism": 3})", R"({"step": 1, "parallelism": {"dp_shard": "x"}})",
        R"({"step": 1, "skipped_updates": -1})", R"({"step": 1, "skipped_updates": 1.0})",
        R"({"step": 1, "skipped_updates": "1"})", R"({"step": 1, "schedule_steps": 0})"}) {
    rewrite(file, bad);
    EXPECT_THAT([&] { read_training_step(file); }, ::testing::ThrowsMessage<Error>(HasSubstr("training_step.json")))
        << bad;
  }
}

std::string warning(const TrainingStep& recorded, const TrainingStep& current) {
  ::testing::internal::CaptureStderr();
  check_topology(recorded, current);
  log::flush();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Topology, DifferencesAreOneWarningAndShardingIsAnError) {
  const TrainingStep now{
      .step = 0, .dp_world_size = 1, .batch_size = 8, .grad_accum_steps = 1, .parallelism = Parallelism{}};
  EXPECT_EQ(warning(now, now), "");
  EXPECT_EQ(warning(only_step(5), now), "");
  TrainingStep other = now;
  other.batch_size = 4;
  other.dp_world_size = 2;
  other.parallelism->dp_replicate = 2;
  EXPECT_THAT(warning(other, now), HasSubstr("dp_world_size: 2 -> 1, batch_size: 4 -> 8, dp_replicate: 2 -> 1"));
  other.parallelism->dp_shard = 2;
  EXPECT_THAT([&] { check_topology(other, now); },
              ::testing::ThrowsMessage<Error>(HasSubstr("saved by sharded training (dp_shard 2")));
}

}  // namespace
}  // namespace lerobot::checkpoint
