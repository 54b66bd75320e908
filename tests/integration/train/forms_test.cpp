// The program on what real datasets look like: the v2.1 layout, statistics that are missing, constant dimensions,
// cameras of different sizes, no FFmpeg.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/avutil.h>
}

#include <cmath>
#include <fstream>
#include <limits>

#include "tests/integration/train/run_support.h"
#include "tests/unit/data/synthetic_video.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using data::SyntheticDataset;
using data::SyntheticEpisode;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Truly;

const std::string kAvutil = "libavutil.so." + std::to_string(LIBAVUTIL_VERSION_MAJOR);

class TrainForms : public ::testing::Test {
 protected:
  ~TrainForms() override { fs::remove_all(folder_); }

  std::vector<std::string> flags(const fs::path& root, const std::string& run, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = small_act("none", folder_ / run, {"--seed=1000"});
    arguments.push_back("--dataset.root=" + root.string());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  fs::path copy_of(const std::string& dataset) {
    fs::copy(test_data("datasets/" + dataset), folder_ / dataset, fs::copy_options::recursive);
    return folder_ / dataset;
  }

  fs::path folder_ = make_temporary_directory("forms");
};

/// 10 frames a second, state of 2, action of 2; episodes of 20, 13, 1 and 30 frames. The second action never changes.
SyntheticDataset four_episodes(const std::string& version) {
  SyntheticDataset dataset;
  dataset.version = version;
  dataset.episodes = data::end_to_end({{0, 20}, {1, 13}, {2, 1}, {3, 30}}, dataset.fps);
  dataset.numbers = {
      {"action", 2,
       [](const SyntheticEpisode&, std::int64_t frame, std::int64_t place) {
         return place == 0 ? static_cast<float>(frame) : 0.5F;
       }},
      {"observation.environment_state", 3, [](const SyntheticEpisode& episode, std::int64_t frame, auto) {
         return static_cast<float>(episode.index - frame);
       }}};
  return dataset;
}

bool is_finite(double value) {
  return std::isfinite(value);
}

TEST_F(TrainForms, V21TrainsWithTheLossesOfTheV30FormOfTheSameData) {
  // The v3.0 form has nine episodes more, so it is given the statistics of the three.
  const fs::path new_form = copy_of("pusht_sim");
  fs::copy_file(test_data("goldens/datasets/pusht_sim_v21.stats.json"), new_form / "meta/stats.json",
                fs::copy_options::overwrite_existing);
  train(flags(new_form, "new", {"--steps=4", "--batch_size=2", "--dataset.episodes=[0,1,2]"}));
  train(flags(test_data("datasets/pusht_sim_v21"), "old", {"--steps=4", "--batch_size=2"}));
  EXPECT_EQ(column(folder_ / "new", "loss").size(), 4U);
  EXPECT_EQ(column(folder_ / "old", "loss"), column(folder_ / "new", "loss"));
  EXPECT_EQ(column(folder_ / "old", "grad_norm"), column(folder_ / "new", "grad_norm"));
}

TEST_F(TrainForms, StatisticsThatAreMissingAreComputedFromTheData) {
  const fs::path root = copy_of("pusht_keypoints");
  train(flags(root, "with", {"--steps=3"}));
  fs::remove(root / "meta/stats.json");
  const Outcome outcome = run_program(train_program(), flags(root, "without", {"--steps=3"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out,
              HasSubstr("meta/stats.json: missing are mean, std of observation.state; mean, std of action; "
                        "they are computed from the 1270 frames to train on"));
  const std::vector<double> with = column(folder_ / "with", "loss"), without = column(folder_ / "without", "loss");
  ASSERT_EQ(with.size(), 3U);
  ASSERT_EQ(without.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(without[i], with[i], 1e-3 * with[i]);
}

TEST_F(TrainForms, ConstantDimensionsTrainToFiniteLossesInBothModes) {
  SyntheticDataset source = four_episodes("v2.1");
  source.state = [](const SyntheticEpisode&, std::int64_t) { return 0.0F; };
  source.write(folder_ / "data");
  for (const std::string mode : {"MEAN_STD", "MIN_MAX"}) {
    const std::string mapping =
        R"(--policy.normalization_mapping={"STATE":")" + mode + R"(","ACTION":")" + mode + "\"}";
    const Outcome outcome = run_program(train_program(), flags(folder_ / "data", mode, {"--steps=20", mapping}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("dimensions that never change: observation.state[1], action[1]."));
    EXPECT_EQ(column(folder_ / mode, "loss").size(), 20U);
    EXPECT_THAT(column(folder_ / mode, "loss"), Each(Truly(is_finite)));
    EXPECT_THAT(column(folder_ / mode, "grad_norm"), Each(Truly(is_finite)));
  }
}

TEST_F(TrainForms, CamerasOfDifferentSizesAndNamesWithDotsTrain) {
  SyntheticDataset source = four_episodes("v3.0");
  source.cameras = {data::grey_camera("observation.images.wrist.left", 64, 48, 10),
                    data::grey_camera("observation.images.front", 48, 64, 10)};
  source.write(folder_ / "data");
  train(flags(folder_ / "data", "out", {"--steps=2", "--batch_size=2"}));
  EXPECT_THAT(column(folder_ / "out", "loss"), Each(Truly(is_finite)));
  // A checkpoint finds the statistics of such names again.
  train({"--resume=true", "--config_path=" + (folder_ / "out").string(), "--steps=3"});
  EXPECT_EQ(column(folder_ / "out", "loss").size(), 3U);
}

TEST_F(TrainForms, AValueThatIsNotFiniteIsCountedAtTheStartAndNamedWhenItIsMet) {
  SyntheticDataset source = four_episodes("v3.0");
  source.state = [](const SyntheticEpisode& episode, std::int64_t frame) {
    return episode.index == 0 && frame == 7 ? std::numeric_limits<float>::quiet_NaN() : 0.5F;
  };
  source.write(folder_ / "data");
  std::ofstream(folder_ / "data/meta/stats.json")
      << R"({"observation.state": {"mean": [1, 0.5], "std": [1, 0.1]}, "action": {"mean": [10, 0.5], "std": [5, 0.1]}})";
  const Outcome outcome = run_program(train_program(), flags(folder_ / "data", "out", {"--steps=100"}));
  EXPECT_EQ(outcome.exit_code, 7) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("observation.state (1 NaN, 0 infinite, first in episode 0 frame 7)"),
                                 HasSubstr("error: the loss is nan"),
                                 HasSubstr("Not finite: observation.state of row 7 (episode 0, frame 7)")));
  EXPECT_FALSE(fs::exists(folder_ / "out/checkpoints/000100"));
}

/// A folder in which FFmpeg's first library is an empty file: the loader stops at the first file of the name.
std::map<std::string, std::string> without_ffmpeg(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream(folder / kAvutil);
  return {{"LD_LIBRARY_PATH", folder.string()}};
}

TEST_F(TrainForms, DatasetsWithoutVideosNeedNoFfmpeg) {
  for (const char* dataset : {"pusht_keypoints", "pusht_image"}) {
    const Outcome outcome = run_program(
        train_program(), flags(test_data(std::string("datasets/") + dataset), dataset, {"--steps=1", "--batch_size=2"}),
        without_ffmpeg(folder_ / "lib"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  }
}

TEST_F(TrainForms, DatasetsWithVideosAreRefusedWithoutFfmpegByTheLibrarysName) {
  const Outcome outcome = run_program(train_program(), flags(test_data("datasets/pusht_sim"), "out", {"--steps=1"}),
                                      without_ffmpeg(folder_ / "lib"));
  expect_error_line(outcome, 4,
                    {kAvutil, "LD_LIBRARY_PATH (" + (folder_ / "lib").string(), "FFmpeg 5.x", "libavcodec59"});
  EXPECT_THAT(outcome.out, Not(HasSubstr("num_learnable_params")));
}

TEST_F(TrainForms, Av1WithoutASoftwareDecoderIsRefusedBeforeTheModel) {
  const Outcome outcome = run_program(train_program(), flags(test_data("datasets/pusht_sim"), "out", {"--steps=1"}),
                                      {{"LD_PRELOAD", OTHER_CODECS_LIBRARY}, {"OTHER_CODECS", NO_AV1_LIBRARY}});
  expect_error_line(outcome, 4,
                    {"videos/observation.image/chunk-000/file-000.mp4", "av1", "libdav1d, libaom-av1", "Install"});
  EXPECT_THAT(outcome.out, Not(HasSubstr("num_learnable_params")));
  train(flags(test_data("datasets/pusht_sim_h264"), "h264", {"--steps=1", "--batch_size=2"}));
}

}  // namespace
}  // namespace lerobot::test
