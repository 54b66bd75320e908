#include "host/train/dataset_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/checkpoint/tensor_file.h"
#include "host/config/load.h"
#include "host/policy/processor_json.h"

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
    const auto metadata = data::DatasetMetadata::load(*config.dataset.root);
    fill_features(config, metadata);
    const config::PolicyConfig expected = config::read_policy_config(folder / "config.json");
    EXPECT_EQ(config::common(*config.policy).input_features, config::common(expected).input_features);
    EXPECT_EQ(config::common(*config.policy).output_features, config::common(expected).output_features);

    const policy::Processors processors =
        policy::make_processors(*config.policy, training_stats(metadata, true), at::kCPU, {ErrorKind::kData, "stats"});
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

TEST(DatasetSetup, DatasetThatIsNotOnThisMachineNamesTheFolderAndTheCure) {
  config::DatasetConfig config;
  config.repo_id = "nobody/nothing";
  try {
    dataset_root(config);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("nobody/nothing"), ::testing::HasSubstr("--dataset.root")));
  }
}

}  // namespace
}  // namespace lerobot::train
