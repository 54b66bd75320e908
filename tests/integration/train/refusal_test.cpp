// Bad input gets one clear line that names the thing and the cure, and an exit code, before the first step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Refusal : public ::testing::Test {
 protected:
  /// A copy of a dataset that a test may break.
  fs::path copy_of(const std::string& dataset) {
    const fs::path copy = folder_ / dataset;
    fs::copy(test_data("datasets/" + dataset), copy, fs::copy_options::recursive);
    return copy;
  }
  Outcome run(const fs::path& root, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = small_act("pusht_keypoints", folder_ / "out", {"--steps=1"});
    arguments.push_back("--dataset.root=" + root.string());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(train_program(), arguments);
  }
  /// Exit code `code`, one line that begins with "error:" and holds `parts`, no step, nothing left in the output
  /// folder.
  void expect_refused(const Outcome& outcome, int code, const std::vector<std::string>& parts) {
    expect_error_line(outcome, code, parts);
    EXPECT_THAT(outcome.out, Not(HasSubstr("step:1 ")));
    EXPECT_FALSE(fs::exists(folder_ / "out/checkpoints"));
  }
  ~Refusal() override { fs::remove_all(folder_); }

  fs::path folder_ = make_temporary_directory("refusal");
};

void truncate_file(const fs::path& path, std::uintmax_t bytes) {
  fs::resize_file(path, fs::file_size(path) - bytes);
}

TEST_F(Refusal, CorruptParquet) {
  const fs::path root = copy_of("pusht_keypoints");
  truncate_file(root / "data/chunk-000/file-000.parquet", 100);
  expect_refused(run(root), 4, {"data/chunk-000/file-000.parquet", "truncated"});
}

TEST_F(Refusal, TruncatedVideo) {
  const fs::path root = copy_of("pusht_sim");
  truncate_file(root / "videos/observation.image/chunk-000/file-000.mp4", 200000);
  expect_refused(run(root), 4, {"videos/observation.image/chunk-000/file-000.mp4"});
}

TEST_F(Refusal, MissingMetaFile) {
  const fs::path root = copy_of("pusht_keypoints");
  fs::remove(root / "meta/tasks.parquet");
  expect_refused(run(root), 4, {"meta/tasks.parquet"});
  fs::remove(root / "meta/info.json");
  expect_refused(run(root), 4, {"meta/info.json"});
}

TEST_F(Refusal, WrongFeatureShape) {
  const fs::path root = copy_of("pusht_keypoints");
  std::string info = file_content(root / "meta/info.json");
  const std::size_t at = info.find("16");
  ASSERT_NE(at, std::string::npos);
  info.replace(at, 2, "17");
  std::ofstream(root / "meta/info.json") << info;
  expect_refused(run(root), 4, {"observation.environment_state", "16", "17"});
}

TEST_F(Refusal, RootThatIsNotThere) {
  expect_refused(run(folder_ / "nowhere"), 4, {"nowhere"});
}

TEST_F(Refusal, OutputFolderInUse) {
  fs::create_directories(folder_ / "out");
  std::ofstream(folder_ / "out/file") << "x";
  expect_refused(run(test_data("datasets/pusht_keypoints")), 2, {"out", "--resume=true"});
}

TEST_F(Refusal, UnknownFlagNamesTheNearest) {
  expect_refused(run(test_data("datasets/pusht_keypoints"), {"--batchsize=4"}), 2, {"--batchsize", "--batch_size"});
}

TEST_F(Refusal, PrecisionAndDevicesThatAreNotThere) {
  const fs::path root = test_data("datasets/pusht_keypoints");
  expect_refused(run(root, {"--policy.device=cpu", "--accelerator.mixed_precision=fp16"}), 3,
                 {"--accelerator.mixed_precision=fp16: cpu (", "fp16 needs an accelerator. Use bf16 or no."});
  // The real cause may be an accelerator that was not seen.
  expect_refused(run(root, {"--accelerator.mixed_precision=fp16"}), 3,
                 {"Use bf16 or no. No accelerator was usable: cuda: unavailable: "});
  expect_refused(run(root, {"--policy.device=hal9000"}), 5, {"hal9000", "Installed ones serve", "cpu"});
}

TEST_F(Refusal, MissingBackboneWeightsNameFileAndCure) {
  std::vector<std::string> arguments =
      small_act("pusht_sim", folder_ / "out",
                {"--steps=1", "--policy.pretrained_backbone_weights=ResNet18_Weights.IMAGENET1K_V1"});
  const Outcome outcome = run_program(train_program(), arguments, {{"TORCH_HOME", (folder_ / "torch").string()}});
  expect_refused(outcome, 9, {"resnet18-f37072fd.pth", "--policy.pretrained_backbone_weights=null"});
}

TEST_F(Refusal, LossThatIsNotFiniteStopsTheRun) {
  const Outcome outcome = run_program(
      train_program(), small_act("pusht_keypoints", folder_ / "out", {"--steps=50", "--policy.optimizer_lr=1e10"}));
  EXPECT_EQ(outcome.exit_code, 7) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("error: the loss is "), HasSubstr("learning rate")));
  EXPECT_FALSE(fs::exists(folder_ / "out/checkpoints/000050"));
}

TEST_F(Refusal, FullDiskNamesBytesNeededAndKeepsOlderCheckpoints) {
  // A limit on file sizes stands for a disk with no room: the model's file does not fit.
  const fs::path run_dir = folder_ / "out";
  train(small_act("pusht_keypoints", run_dir, {"--steps=1"}));
  const rlimit old = [] {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  const rlimit small{100 * 1024, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  signal(SIGXFSZ, SIG_IGN);
  const Outcome outcome =
      run_program(train_program(), {"--resume=true", "--config_path=" + run_dir.string(), "--steps=2"});
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(outcome.exit_code, 9) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("safetensors"), HasSubstr("bytes needed")));
  EXPECT_TRUE(fs::exists(run_dir / "checkpoints/last/pretrained_model/model.safetensors"));
  train({"--resume=true", "--config_path=" + run_dir.string(), "--steps=2"});
}

}  // namespace
}  // namespace lerobot::test
