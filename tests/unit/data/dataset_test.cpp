#include "host/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <unordered_set>

#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// D0's episodes: 20, 13, 1 and 30 frames.
SyntheticDataset four_episodes() {
  SyntheticDataset dataset;
  dataset.episodes = {{0, 20}, {1, 13}, {2, 1}, {3, 30}};
  return dataset;
}

class SyntheticTest : public testing::Test {
 protected:
  DatasetOptions write(const SyntheticDataset& dataset) {
    dataset.write(directory_.path());
    DatasetOptions options;
    options.root = directory_.path();
    return options;
  }

  TempDirectory directory_;
};

template <class T>
std::vector<T> values(const Item& item, const std::string& key) {
  const Buffer& buffer = *item.tensors.find(key);
  return std::vector<T>(elements_of<T>(buffer), elements_of<T>(buffer) + buffer.elements());
}

using Episodes = SyntheticTest;

TEST_F(Episodes, AreChosenByNumberAndKeepTheirOwnFrames) {
  DatasetOptions options = write(four_episodes());
  options.delta_timestamps["observation.state"] = {-0.2, 0.0, 0.1};
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> cases = {
      {{3}, {3}}, {{1, 3}, {1, 3}}, {{3, 1}, {1, 3}}, {{}, {0, 1, 2, 3}}};
  for (const auto& [chosen, expected] : cases) {
    options.episodes = chosen;
    const Dataset dataset(options);
    std::int64_t row = 0;
    for (const std::int64_t episode : expected) {
      const std::int64_t length = four_episodes().episodes[static_cast<std::size_t>(episode)].length;
      for (std::int64_t frame = 0; frame < length; ++frame, ++row) {
        const Item item = dataset.item(row);
        std::vector<float> state;
        for (const std::int64_t delta : {-2, 0, 1}) {
          state.push_back(static_cast<float>(episode));
          state.push_back(static_cast<float>(std::clamp<std::int64_t>(frame + delta, 0, length - 1)));
        }
        EXPECT_EQ(values<float>(item, "observation.state"), state);
        EXPECT_THAT(values<bool>(item, "observation.state_is_pad"), ElementsAre(frame < 2, false, frame == length - 1));
        EXPECT_THAT(values<std::int64_t>(item, "episode_index"), ElementsAre(episode));
      }
    }
    EXPECT_EQ(dataset.num_frames(), row);
    EXPECT_EQ(dataset.num_episodes(), std::ssize(expected));
  }
}

TEST_F(Episodes, ThatAreUnknownOrNamedTwiceAreRefused) {
  DatasetOptions options = write(four_episodes());
  options.episodes = {{7, 1}};
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }),
              AllOf(HasSubstr("--dataset.episodes"), HasSubstr(": 7."), HasSubstr("from 0 to 3")));
  options.episodes = {{0, 0}};
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }), HasSubstr("more than once: 0"));
  options.episodes.reset();
  options.exclude_episodes = {{0, 1, 2, 3}};
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }), HasSubstr("no episodes are left"));
  options.exclude_episodes = {{0, 3}};
  EXPECT_EQ(Dataset(options).num_frames(), 14);
}

TEST_F(Episodes, MayHaveGapsAndAnyOrderInTheirList) {
  SyntheticDataset source;
  source.episodes = {{0, 20}, {2, 4, 33}, {5, 7, 50}};
  source.metadata_order = {2, 0, 1};
  source.total_episodes = 6;
  const Dataset dataset(write(source));
  ASSERT_EQ(dataset.num_frames(), 31);
  EXPECT_EQ(dataset.episodes().front().index, 5);
  EXPECT_EQ(dataset.episodes().front().first_row, 24);
  EXPECT_THAT(values<float>(dataset.item(25), "observation.state"), ElementsAre(5, 1));
  EXPECT_EQ(dataset.row_name(25), "row 25 (episode 5, frame 1)");
}

TEST_F(Episodes, ThatComeTwiceOrShareFramesAreRefused) {
  SyntheticDataset twice;
  twice.episodes = {{1, 3}, {1, 4}};
  EXPECT_THAT(data_error_of([&] { Dataset{write(twice)}; }), HasSubstr("episode 1 is there twice"));
  SyntheticDataset overlapping;
  overlapping.episodes = {{0, 5}, {1, 5, 4}};
  EXPECT_THAT(data_error_of([&] { Dataset{write(overlapping)}; }), HasSubstr("episodes 0 and 1 share frames"));
}

TEST_F(Episodes, WhoseRowsAreNotAllThereAreRefused) {
  write(four_episodes());
  const std::filesystem::path data = "data/chunk-000/file-000.parquet";
  SyntheticDataset shorter = four_episodes();
  shorter.episodes[1].length = 12;
  const TempDirectory other;
  shorter.write(other.path());
  std::filesystem::copy_file(other.path() / data, directory_.path() / data,
                             std::filesystem::copy_options::overwrite_existing);
  DatasetOptions options;
  options.root = directory_.path();
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }),
              AllOf(HasSubstr(data.string()), HasSubstr("episode 1 has 12 rows"), HasSubstr("13")));
}

using Tasks = SyntheticTest;

TEST_F(Tasks, AreFoundByTheirIndexWhateverTheColumnIsCalled) {
  for (const char* column : {"task", "__index_level_0__", "instruction"}) {
    const TempDirectory directory;
    SyntheticDataset source = three_tasks();
    source.task_column = column;
    source.write(directory.path());
    DatasetOptions options;
    options.root = directory.path();
    const Dataset dataset(options);
    EXPECT_EQ(*dataset.item(0).strings.find("task"), "push \U0001F916 \"it\"");
    EXPECT_EQ(*dataset.item(2).strings.find("task"), "推动方块");
    EXPECT_EQ(*dataset.item(4).strings.find("task"), "two\nlines");
  }
}

TEST_F(Tasks, WithoutTextAreRefusedWithIndexAndFile) {
  SyntheticDataset source = four_episodes();
  source.episodes[2].task = 5;
  EXPECT_THAT(data_error_of([&] { Dataset{write(source)}; }),
              AllOf(HasSubstr("task_index 5"), HasSubstr("data/chunk-000/file-000.parquet")));
}

using Timestamps = SyntheticTest;

TEST_F(Timestamps, OfLongFloat32EpisodesPassAtAnyRate) {
  for (const double fps : {30.0, 29.97, 7.5, 1.0}) {
    const TempDirectory directory;
    SyntheticDataset source;
    source.fps = fps;
    source.episodes = {{0, 120000}};
    source.write(directory.path());
    DatasetOptions options;
    options.root = directory.path();
    EXPECT_NO_THROW(Dataset{options}) << fps;
  }
}

TEST_F(Timestamps, ThatJumpAreListedWithTheWorst) {
  SyntheticDataset source = four_episodes();
  source.timestamp = [](const SyntheticEpisode& episode, std::int64_t frame) {
    const bool late = episode.index == 3 && frame >= 10;
    return static_cast<double>(frame + (late ? 2 : 0)) / 10;
  };
  DatasetOptions options = write(source);
  const std::string message = data_error_of([&] { Dataset{options}; });
  EXPECT_THAT(message, AllOf(HasSubstr("in 20 rows"), HasSubstr("by up to 0.2"), HasSubstr("episode 3 frame 10"),
                             HasSubstr("and 10 more")));
  options.episodes = {{2, 0}};
  EXPECT_NO_THROW(Dataset{options});
  options.episodes.reset();
  options.tolerance_s = 0.25;
  EXPECT_NO_THROW(Dataset{options});
}

TEST_F(Timestamps, OfAWindowMustBeWholeFramesOfKnownFeatures) {
  DatasetOptions options = write(four_episodes());
  options.delta_timestamps["observation.state"] = {0, 0.1, 0.15};
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }), HasSubstr("observation.state 0.15"));
  options.delta_timestamps.clear();
  options.delta_timestamps["action"] = {0};
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }), HasSubstr("delta_timestamps name action"));
  options.delta_timestamps.clear();
  options.delta_timestamps["observation.state"] = {};
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }), HasSubstr("observation.state are empty"));
}

using Speed = SyntheticTest;

/// The bound is a tenth of what is asked of one undisturbed core (20 thousand a second), so that a busy machine passes.
TEST_F(Speed, OfSamplesWithoutImagesDoesNotDependOnTheirNumber) {
  SyntheticDataset source;
  source.episodes = {{0, 50000}, {1, 50000}};
  DatasetOptions options = write(source);
  std::vector<double>& deltas = options.delta_timestamps["observation.state"];
  for (int i = 0; i < 64; ++i) deltas.push_back(i / 10.0);
  const Dataset dataset(options);
  std::mt19937 random(1);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20000; ++i) dataset.item(static_cast<std::int64_t>(random() % 100000));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 10);
  RecordProperty("samples_per_second", std::to_string(20000 / seconds.count()));
}

}  // namespace
}  // namespace lerobot::data
