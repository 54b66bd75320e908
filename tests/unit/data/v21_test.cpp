// Datasets of the v2.1 layout: the same items as in v3.0, and what is wrong with them in one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "host/base/log.h"
#include "host/data/dataset.h"
#include "tests/unit/data/synthetic_video.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// 10 frames a second, state of 2, action of 2, a 96x96 camera; episodes of 20, 13, 1 and 30 frames.
SyntheticDataset four_episodes(const std::string& version) {
  SyntheticDataset dataset;
  dataset.version = version;
  dataset.episodes = end_to_end({{0, 20}, {1, 13}, {2, 1}, {3, 30}}, dataset.fps);
  dataset.numbers.push_back({"action", 2, [](const SyntheticEpisode& episode, std::int64_t frame, std::int64_t place) {
                               return static_cast<float>(100 * episode.index + frame + 1000 * place);
                             }});
  dataset.cameras.push_back(grey_camera("observation.image", 96, 96, 10));
  return dataset;
}

DatasetOptions options_of(const fs::path& root) {
  DatasetOptions options;
  options.root = root;
  options.delta_timestamps["action"] = {0, 0.1, 0.2, 0.3};
  options.delta_timestamps["observation.image"] = {-0.1, 0};
  return options;
}

/// The keys whose values differ in a row.
std::vector<std::string> differences(const Dataset& a, const Dataset& b, std::int64_t row) {
  const Item first = a.item(row), second = b.item(row);
  std::vector<std::string> keys;
  if (first.tensors.size() != second.tensors.size()) keys.emplace_back("number of tensors");
  for (const auto& [key, tensor] : first.tensors) {
    const Buffer* other = second.tensors.find(key);
    const bool same = other != nullptr && other->shape == tensor.shape && other->dtype == tensor.dtype &&
                      std::memcmp(other->data.get(), tensor.data.get(), tensor.bytes()) == 0;
    if (!same) keys.push_back(key);
  }
  if (!(first.strings == second.strings)) keys.emplace_back("strings");
  return keys;
}

TEST(V21, GivesTheItemsOfTheV30FormOfTheSameData) {
  const TempDirectory old_form, new_form;
  SyntheticDataset source = four_episodes("2.1");
  source.chunks_size = 2;
  source.write(old_form.path());
  four_episodes("v3.0").write(new_form.path());
  EXPECT_TRUE(fs::exists(old_form.path() / "data/chunk-001/episode_000003.parquet"));
  const Dataset a(options_of(old_form.path())), b(options_of(new_form.path()));
  ASSERT_EQ(a.num_frames(), 64);
  ASSERT_EQ(b.num_frames(), 64);
  for (std::int64_t row = 0; row < 64; ++row) EXPECT_THAT(differences(a, b, row), ElementsAre()) << row;
}

TEST(V21, ChoosesEpisodesByNumberAndOpensTheirFilesOnly) {
  const TempDirectory directory;
  four_episodes("v2.1").write(directory.path());
  fs::remove(directory.path() / "data/chunk-000/episode_000000.parquet");
  fs::remove(directory.path() / "videos/chunk-000/observation.image/episode_000002.mp4");
  DatasetOptions options = options_of(directory.path());
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }),
              AllOf(HasSubstr("data/chunk-000/episode_000000.parquet is missing"),
                    HasSubstr("videos/chunk-000/observation.image/episode_000002.mp4: it is missing")));
  options.episodes = {{3, 1}};
  const Dataset dataset(options);
  ASSERT_EQ(dataset.num_frames(), 43);
  const Item item = dataset.item(13);
  EXPECT_EQ(*elements_of<std::int64_t>(*item.tensors.find("episode_index")), 3);
  EXPECT_EQ(grey_level(*dataset.picture("observation.image", 13 + 29)), grey_level_of(3, 29));
}

TEST(V21, NumbersMayHaveGapsAndComeInAnyOrder) {
  const TempDirectory directory;
  SyntheticDataset source;
  source.version = "v2.1";
  source.episodes = {{0, 20}, {2, 4, 33}, {5, 7, 50}};
  source.metadata_order = {2, 0, 1};
  source.total_episodes = 6;
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  testing::internal::CaptureStderr();
  const Dataset dataset(options);
  log::flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("total_episodes is 6, but meta/episodes.jsonl lists 3 episodes"));
  ASSERT_EQ(dataset.num_frames(), 31);
  EXPECT_EQ(dataset.row_name(25), "row 25 (episode 5, frame 1)");
  EXPECT_EQ(dataset.row_name(23), "row 23 (episode 2, frame 3)");
}

TEST(V21, TasksAreFoundByTheirIndexInAnyScript) {
  const TempDirectory directory;
  SyntheticDataset source = three_tasks();
  source.version = "v2.1";
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  const Dataset dataset(options);
  EXPECT_EQ(dataset.task(0), "push \U0001F916 \"it\"");
  EXPECT_EQ(dataset.task(2), "推动方块");
  EXPECT_EQ(dataset.task(4), "two\nlines");
}

class BrokenV21 : public testing::Test {
 protected:
  void SetUp() override {
    SyntheticDataset source;
    source.version = "v2.1";
    source.episodes = {{0, 5}, {1, 6}};
    source.write(root_.path());
  }
  void write(const std::string& file, const std::string& text) { std::ofstream(root_.path() / file) << text; }
  std::string error() {
    return data_error_of([&] { DatasetMetadata::load(root_.path()); });
  }

  TempDirectory root_;
};

TEST_F(BrokenV21, FilesThatAreMissingEmptyOrPointersAreListedWithTheData) {
  fs::remove(root_.path() / "meta/tasks.jsonl");
  write("meta/episodes.jsonl", "");
  write("meta/episodes_stats.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n");
  write("data/chunk-000/episode_000001.parquet", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("meta/tasks.jsonl is missing"), HasSubstr("meta/episodes.jsonl is empty"),
                             HasSubstr("meta/episodes_stats.jsonl is a pointer text"),
                             HasSubstr("data/chunk-000/episode_000001.parquet is a pointer text"),
                             HasSubstr("git lfs pull"), Not(HasSubstr("episode_000000"))));
}

TEST_F(BrokenV21, LinesAreNamedByFileAndNumber) {
  write("meta/episodes.jsonl", "{\"episode_index\": 0, \"length\": 5}\n\n{\"episode_index\": 1, \"len");
  EXPECT_THAT(error(), HasSubstr("meta/episodes.jsonl (line 3)"));
  write("meta/episodes.jsonl", "{\"episode_index\": 0}\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("meta/episodes.jsonl (line 1)"), HasSubstr("\"length\" is missing")));
  write("meta/episodes.jsonl", "{\"episode_index\": 0, \"length\": 2.5}\n");
  EXPECT_THAT(error(), HasSubstr("\"length\" is 2.5, needed a whole number"));
  write("meta/episodes.jsonl", "{\"episode_index\": 0, \"length\": 0}\n");
  EXPECT_THAT(error(), HasSubstr("meta/episodes.jsonl: episode 0 has frames 0 to 0, needed at least one"));
  write("meta/episodes.jsonl", "{\"episode_index\": 0, \"length\": 5}\n{\"episode_index\": 0, \"length\": 5}\n");
  EXPECT_THAT(error(), HasSubstr("meta/episodes.jsonl: episode 0 is there twice"));
  write("meta/tasks.jsonl", "{\"task_index\": 0, \"task\": \"a\"}\n{\"task_index\": 0, \"task\": \"b\"}\n");
  EXPECT_THAT(error(), HasSubstr("meta/tasks.jsonl: task_index 0 is there twice"));
}

TEST_F(BrokenV21, AnotherLengthThanTheDataHasNamesBothFiles) {
  write("meta/episodes.jsonl", "{\"episode_index\": 0, \"length\": 5}\n{\"episode_index\": 1, \"length\": 7}\n");
  DatasetOptions options;
  options.root = root_.path();
  EXPECT_THAT(data_error_of([&] { Dataset{options}; }),
              HasSubstr("data/chunk-000/episode_000001.parquet: episode 1 has 6 rows, but meta/episodes.jsonl says 7"));
}

TEST_F(BrokenV21, StatisticsOfTheEpisodesAreJoinedAndTruthValuesCounted) {
  write(
      "meta/episodes_stats.jsonl",
      R"({"episode_index": 0, "stats": {"next.done": {"min": [false], "max": [false], "mean": [0.0], "std": [0.0], "count": [5]}}}
{"episode_index": 1, "stats": {"next.done": {"min": [false], "max": [true], "mean": [0.5], "std": [0.5], "count": [15]}}})");
  const DatasetStats stats = DatasetMetadata::load(root_.path()).stats();
  EXPECT_EQ(*stats.find("next.done")->find("max"), (Stat{{1}, {1}}));
  EXPECT_EQ(*stats.find("next.done")->find("mean"), (Stat{{1}, {0.375}}));
  EXPECT_EQ(*stats.find("next.done")->find("count"), (Stat{{1}, {20}}));
  write("meta/episodes_stats.jsonl", "{\"episode_index\": 0}\n");
  EXPECT_THAT(error(), HasSubstr("meta/episodes_stats.jsonl (line 1): \"stats\" is missing"));
}

TEST(Version, ThatIsNotReadIsRefusedWithWhatIsAndACure) {
  for (const auto& [version, cure] : {std::pair{"v2.0", "convert_dataset_v20_to_v21"},
                                      {"1.6", "older LeRobot"},
                                      {"v4.0", "newer trainer"},
                                      {"v3", "newer trainer"},
                                      {"", "Set it"}}) {
    SyntheticDataset source;
    source.version = version;
    source.episodes = {{0, 3}};
    const TempDirectory directory;
    source.write(directory.path());
    EXPECT_THAT(data_error_of([&] { DatasetMetadata::load(directory.path()); }),
                AllOf(HasSubstr("meta/info.json"), HasSubstr("is \"" + std::string(version) + "\""),
                      HasSubstr("v3.0 or v2.1"), HasSubstr(cure)));
  }
  const TempDirectory directory;
  fs::create_directories(directory.path() / "meta");
  std::ofstream(directory.path() / "meta/info.json") << R"({"fps": 10, "features": {}})";
  EXPECT_THAT(data_error_of([&] { DatasetMetadata::load(directory.path()); }),
              AllOf(HasSubstr("codebase_version is missing"), HasSubstr("v3.0 or v2.1"), HasSubstr("Set it")));
}

}  // namespace
}  // namespace lerobot::data
