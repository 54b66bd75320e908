#include "host/train/dataset_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "host/checkpoint/tensor_file.h"
#include "host/config/load.h"
#include "host/policy/processor_json.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::train {
namespace {

namespace fs = std::filesystem;

const fs::path kData = LEROBOT_TEST_DATA;

void expect_equal(const checkpoint::Tensors& found, const checkpoint::Tensors& expected) {
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_NE(found.find(name), nullptr) << name;
    EXPECT_TRUE(found.find(name)->equal(tensor)) << name;
  }
}

/// A fresh configuration for a dataset of the repository.
config::TrainConfig fresh(const std::string& dataset) {
  config::TrainConfig config;
  config.dataset.root = (kData / "datasets" / dataset).string();
  config.policy = config::ActConfig{};
  return config;
}

TEST(DatasetSetup, FeaturesAndStatisticsAreThoseOfPythonsCheckpoint) {
  for (const auto& [dataset, saved] :
       {std::pair{"pusht_keypoints", "act_keypoints"}, std::pair{"pusht_sim", "act_pusht"}}) {
    const fs::path folder = kData / "checkpoints" / saved / "checkpoints/000020/pretrained_model";
    config::TrainConfig config = fresh(dataset);
    const auto dataset_opened = open_datasets(config, 16).train;
    fill_features(config, dataset_opened->metadata());
    const config::PolicyConfig expected = config::read_policy_config(folder / "config.json");
    EXPECT_EQ(config::common(*config.policy).input_features, config::common(expected).input_features);
    EXPECT_EQ(config::common(*config.policy).output_features, config::common(expected).output_features);

    const policy::Processors processors = policy::make_processors(
        *config.policy, training_stats(*dataset_opened, config), at::kCPU, {ErrorKind::kData, "stats"});
    expect_equal(processors.pre.state(), checkpoint::read_tensors(folder / policy::kPreprocessorState));
    expect_equal(processors.post.state(), checkpoint::read_tensors(folder / policy::kPostprocessorState));
  }
}

TEST(DatasetSetup, ActSeesItsChunkOfActionsAndNoOtherWindow) {
  config::TrainConfig config = fresh("pusht_keypoints");
  std::get<config::ActConfig>(*config.policy).chunk_size = 7;
  const auto dataset = open_datasets(config, 16).train;
  const data::Item item = dataset->item(0);
  EXPECT_EQ(item.tensors.find("action")->shape, (std::vector<std::int64_t>{7, 2}));
  EXPECT_EQ(item.tensors.find("action_is_pad")->shape, (std::vector<std::int64_t>{7}));
  EXPECT_EQ(item.tensors.find("observation.state")->shape, (std::vector<std::int64_t>{2}));
}

std::vector<std::int64_t> numbers_of(const data::Dataset& dataset) {
  std::vector<std::int64_t> numbers;
  for (const data::Episode& episode : dataset.episodes()) numbers.push_back(episode.index);
  return numbers;
}

TEST(DatasetSetup, ASplitHoldsOutTheLastEpisodesOfTheListAsItWasTyped) {
  config::TrainConfig config = fresh("pusht_keypoints");
  config.dataset.episodes = {{7, 0, 5, 3, 2}};
  config.dataset.exclude_episodes = {{2}};
  config.dataset.eval_split = 0.5;
  config.eval_steps = 1;
  const Datasets datasets = open_datasets(config, 16);
  EXPECT_EQ(numbers_of(*datasets.train), (std::vector<std::int64_t>{0, 7}));
  EXPECT_EQ(numbers_of(*datasets.held_out), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(&datasets.train->metadata(), &datasets.held_out->metadata());
  EXPECT_EQ(datasets.held_out->item(0).tensors.find("action")->shape.size(), 2U);

  config.max_eval_samples = 20;
  const data::LoaderOptions loading = held_out_loading(*datasets.held_out, config);
  EXPECT_EQ(loading.batch_size, config.batch_size);
  EXPECT_EQ(loading.rows->size(), 20U);
}

TEST(DatasetSetup, HeldOutEpisodesThatNothingLooksAtAreNotOpened) {
  config::TrainConfig config = fresh("pusht_keypoints");
  config.dataset.eval_split = 0.2;
  const Datasets datasets = open_datasets(config, 16);
  EXPECT_EQ(datasets.train->num_episodes(), 9);
  EXPECT_EQ(datasets.held_out, nullptr);
  config.dataset.eval_split = 0;
  EXPECT_EQ(open_datasets(config, 16).train->num_episodes(), 12);
}

/// A dataset whose stats.json is `stats`, or none, opened for an ACT with one way of normalizing.
class MissingStats : public ::testing::Test {
 protected:
  data::SyntheticDataset source() {
    data::SyntheticDataset dataset;
    dataset.episodes = {{0, 20}, {1, 13}, {2, 1}, {3, 30}};
    dataset.numbers = {{"action", 2, [](const data::SyntheticEpisode&, std::int64_t frame, std::int64_t place) {
                          return static_cast<float>(frame + 100 * place);
                        }}};
    return dataset;
  }
  policy::Stats stats(const data::SyntheticDataset& dataset, const std::string& json,
                      const std::string& mode = "MEAN_STD") {
    fs::remove_all(folder_.path() / "data");
    dataset.write(folder_.path() / "data");
    if (!json.empty()) std::ofstream(folder_.path() / "data/meta/stats.json") << json;
    config_.dataset.root = (folder_.path() / "data").string();
    config_.policy = config::ActConfig{};
    auto& act = std::get<config::ActConfig>(*config_.policy);
    act.chunk_size = 10;
    for (auto& entry : act.normalization_mapping) entry.second = *config::normalization_mode_from(mode);
    const auto opened = open_datasets(config_, 16).train;
    fill_features(config_, opened->metadata());
    return training_stats(*opened, config_);
  }
  std::string error(const std::string& json, const std::string& mode) {
    return data::data_error_of([&] { stats(source(), json, mode); });
  }
  static std::vector<float> values(const policy::Stats& stats, const char* feature, const char* name) {
    const at::Tensor tensor = stats.find(feature)->find(name)->contiguous();
    return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
  }

  const data::TempDirectory folder_;
  config::TrainConfig config_;
};

constexpr const char* kFive =
    R"({"observation.state": {"mean": [1, 2], "std": [1, 2], "min": [0, 0], "max": [1, 1], "count": [9], "q01": null, "q99": []},
        "action": {"mean": [3, 4], "std": [1, 2], "min": [0, 0], "max": [1, 1], "count": [9]}})";

TEST_F(MissingStats, QuantilesAreNeededByTheirModesOnlyAndRefusedAllTogether) {
  for (const char* mode : {"MEAN_STD", "MIN_MAX"}) {
    EXPECT_EQ(values(stats(source(), kFive, mode), "action", "mean"), (std::vector<float>{3, 4})) << mode;
  }
  EXPECT_THAT(error(kFive, "QUANTILES"),
              ::testing::AllOf(::testing::HasSubstr("meta/stats.json"),
                               ::testing::HasSubstr("q01, q99 of action; q01, q99 of observation.state"),
                               ::testing::HasSubstr("MEAN_STD or MIN_MAX")));
  EXPECT_THAT(error("", "QUANTILE10"), ::testing::HasSubstr("q10, q90 of action; q10, q90 of observation.state"));
}

TEST_F(MissingStats, AreComputedFromTheFramesToTrainOnAndTheOthersKept) {
  config_.dataset.exclude_episodes = {{3}};
  const policy::Stats found =
      stats(source(), R"({"observation.state": {"mean": [1, 2], "count": [9]}, "action": {"std": null}})");
  EXPECT_EQ(values(found, "observation.state", "mean"), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(found, "observation.state", "count"), std::vector<float>{9});
  const double square = (0 * 20 + 1 * 13 + 4 * 1) / 34.0, mean = (0 * 20 + 1 * 13 + 2 * 1) / 34.0;
  EXPECT_FLOAT_EQ(values(found, "observation.state", "std")[0], static_cast<float>(std::sqrt(square - mean * mean)));
  const auto frames = static_cast<float>((190 + 78) / 34.0);
  EXPECT_FLOAT_EQ(values(found, "action", "mean")[0], frames);
  EXPECT_FLOAT_EQ(values(found, "action", "mean")[1], frames + 100);
  EXPECT_EQ(values(found, "action", "count"), std::vector<float>{34});
  EXPECT_EQ(found.find("action")->find("min"), nullptr) << "nothing needs it";
}

TEST_F(MissingStats, OfCamerasAreComputedOnlyWhereImageNetsDoNotServe) {
  data::SyntheticDataset dataset = source();
  dataset.camera = R"({"dtype": "image", "shape": [2, 2, 3], "names": ["height", "width", "channels"]})";
  dataset.image = [](std::int64_t row) {
    return data::encode_image("png", "rgb24", 2, 2, std::vector<std::uint8_t>(12, row % 2 == 0 ? 0 : 102));
  };
  EXPECT_FLOAT_EQ(values(stats(dataset, kFive), "observation.image", "mean")[0], 0.485F);
  config_.dataset.use_imagenet_stats = false;
  const policy::Stats found = stats(dataset, kFive);
  EXPECT_EQ(found.find("observation.image")->find("mean")->sizes(), (c10::IntArrayRef{3, 1, 1}));
  for (const float mean : values(found, "observation.image", "mean")) EXPECT_NEAR(mean, 0.2, 1e-6);
  for (const float deviation : values(found, "observation.image", "std")) EXPECT_NEAR(deviation, 0.2, 1e-6);
  EXPECT_EQ(values(found, "action", "mean"), (std::vector<float>{3, 4}));
}

TEST_F(MissingStats, AndTheOthersGoByThePolicysNamesOfTheFeatures) {
  data::SyntheticDataset dataset = source();
  dataset.numbers.push_back({"observation.joints", 1, [](const auto&, std::int64_t, std::int64_t) { return 7.0F; }});
  config_.rename_map["observation.joints"] = "observation.arm.joints";
  const policy::Stats found = stats(dataset, kFive);
  EXPECT_EQ(found.find("observation.joints"), nullptr);
  EXPECT_EQ(values(found, "observation.arm.joints", "mean"), std::vector<float>{7});
}

TEST(DatasetSetup, DatasetThatIsNotOnThisMachineNamesTheFolderAndTheCure) {
  config::TrainConfig config = fresh("pusht_keypoints");
  config.dataset.root = "nowhere/at/all";
  config.dataset.repo_id = "local/all";
  try {
    open_datasets(config, 16);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("nowhere/at/all"), ::testing::HasSubstr("--dataset.repo_id")));
  }
}

}  // namespace
}  // namespace lerobot::train
