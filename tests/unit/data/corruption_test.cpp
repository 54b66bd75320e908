// Damaged copies of the recorded datasets: each is one clear line, before the first sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "host/data/dataset.h"
#include "tests/unit/data/file_edit.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Corruption : public testing::Test {
 protected:
  void copy(const std::string& name) {
    fs::copy(fs::path(LEROBOT_TEST_DATA) / "datasets" / name, root_, fs::copy_options::recursive);
  }
  void cut(const std::string& file, std::uintmax_t bytes) { data::cut(root_ / file, bytes); }
  void overwrite(const std::string& file, const std::string& text) { data::overwrite(root_ / file, text); }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    data::replace(root_ / file, from, to);
  }
  std::string open_error(std::vector<std::int64_t> episodes = {}) {
    return data_error_of([&] { open(std::move(episodes)); });
  }
  void open(std::vector<std::int64_t> episodes = {}) {
    DatasetOptions options;
    options.root = root_;
    options.episodes = std::move(episodes);
    Dataset(std::move(options)).item(0);
  }

  TempDirectory directory_;
  fs::path root_ = directory_.path() / "dataset";
};

TEST_F(Corruption, TruncatedAndMissingDataFilesAreListedTogether) {
  copy("pusht_image");
  cut("data/chunk-000/file-000.parquet", 100);
  fs::remove(root_ / "data/chunk-000/file-001.parquet");
  EXPECT_THAT(open_error(),
              AllOf(HasSubstr("data/chunk-000/file-000.parquet is truncated"),
                    HasSubstr("data/chunk-000/file-001.parquet is missing"), HasSubstr("--dataset.episodes")));
}

TEST_F(Corruption, OnlyTheFilesOfTheNamedEpisodesMustBeWhole) {
  copy("pusht_image");
  fs::remove(root_ / "data/chunk-000/file-001.parquet");
  EXPECT_NO_THROW(open({0, 1}));
  EXPECT_THAT(open_error({2}), HasSubstr("file-001.parquet is missing"));
}

TEST_F(Corruption, EmptyAndPointerFilesInMetaAreListedTogether) {
  copy("pusht_keypoints");
  overwrite("meta/episodes/chunk-000/file-000.parquet", "");
  overwrite("meta/tasks.parquet", kPointer);
  EXPECT_THAT(open_error(), AllOf(HasSubstr("meta/episodes/chunk-000/file-000.parquet is empty (0 bytes)"),
                                  HasSubstr("meta/tasks.parquet is a pointer text")));
}

TEST_F(Corruption, BytesChangedInsideAParquetFileNameTheFile) {
  copy("pusht_keypoints");
  const fs::path file = root_ / "data/chunk-000/file-000.parquet";
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(fs::file_size(file)) - 200);
  stream << std::string(150, '\xff');
  stream.close();
  EXPECT_THAT(open_error(), HasSubstr("data/chunk-000/file-000.parquet: cannot be read as parquet"));
}

TEST_F(Corruption, MissingMetaFilesAreNamed) {
  copy("pusht_keypoints");
  fs::remove(root_ / "meta/tasks.parquet");
  EXPECT_THAT(open_error(), HasSubstr("meta/tasks.parquet is missing"));
  fs::remove_all(root_ / "meta/episodes");
  EXPECT_THAT(open_error(), HasSubstr("meta/episodes/*/*.parquet"));
  fs::remove(root_ / "meta/info.json");
  EXPECT_THAT(open_error(), AllOf(HasSubstr(root_.string()), HasSubstr("meta/info.json"), HasSubstr("--dataset.root")));
}

TEST_F(Corruption, TruncatedEmptyAndMissingVideosAreListedTogether) {
  copy("pusht_sim_h264");
  cut("videos/observation.image/chunk-000/file-000.mp4", 1000);
  fs::remove(root_ / "videos/observation.image/chunk-001/file-000.mp4");
  EXPECT_THAT(open_error(),
              AllOf(HasSubstr("videos/observation.image/chunk-000/file-000.mp4: it is truncated"),
                    HasSubstr("videos/observation.image/chunk-001/file-000.mp4: it is missing"), Not(HasSubstr(".;"))));
  overwrite("videos/observation.image/chunk-000/file-000.mp4", "");
  EXPECT_THAT(open_error(), HasSubstr("chunk-000/file-000.mp4: it is empty"));
  overwrite("videos/observation.image/chunk-000/file-000.mp4", kPointer);
  EXPECT_THAT(open_error(), HasSubstr("chunk-000/file-000.mp4: it is a pointer text in place of the data"));
  overwrite("videos/observation.image/chunk-000/file-000.mp4", "no video at all");
  EXPECT_THAT(open_error(), HasSubstr("chunk-000/file-000.mp4: it is damaged, truncated or no video"));
}

TEST_F(Corruption, DamagedVideoDataFailsWithoutAnEnd) {
  copy("pusht_sim");
  const fs::path file = root_ / "videos/observation.image/chunk-000/file-000.mp4";
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(fs::file_size(file)) / 2);
  stream << std::string(fs::file_size(file) / 4, '\x5a');
  stream.close();
  DatasetOptions options;
  options.root = root_;
  const Dataset dataset(std::move(options));
  const std::string message = data_error_of([&] {
    for (std::int64_t row = 0; row < dataset.num_frames(); ++row) dataset.item(row);
  });
  EXPECT_THAT(message, HasSubstr("videos/observation.image/chunk-000/file-000.mp4"));
}

TEST_F(Corruption, WrongShapesNameFeatureAndBothShapes) {
  copy("pusht_keypoints");
  const std::string state =
      "\"observation.state\": {\n            \"dtype\": \"float32\",\n            \"shape\": [\n                ";
  replace("meta/info.json", state + "2", state + "3");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("data/chunk-000/file-000.parquet"),
                                  HasSubstr("observation.state has 2 numbers per row, needed 3")));
}

TEST_F(Corruption, AVideoOfAnotherSizeNamesTheFileAndBothSizes) {
  copy("pusht_sim_h264");
  replace("meta/info.json", "96,\n                96,\n", "48,\n                64,\n");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("videos/observation.image/chunk-000/file-000.mp4"), HasSubstr("96x96"),
                                  HasSubstr("(3, 48, 64)")));
}

TEST_F(Corruption, AnImageOfAnotherSizeNamesTheFileAndBothSizes) {
  copy("pusht_image");
  replace("meta/info.json", "96,\n                96,\n", "48,\n                64,\n");
  EXPECT_THAT(open_error(),
              AllOf(HasSubstr("data/chunk-000/file-000.parquet"), HasSubstr("(3, 96, 96)"), HasSubstr("(3, 48, 64)")));
}

TEST_F(Corruption, DataAndVideosAreListedTogether) {
  copy("pusht_sim_h264");
  cut("data/chunk-000/file-000.parquet", 100);
  overwrite("data/chunk-001/file-000.parquet", kPointer);
  overwrite("videos/observation.image/chunk-000/file-000.mp4", kPointer);
  fs::remove(root_ / "videos/observation.image/chunk-001/file-000.mp4");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("data/chunk-000/file-000.parquet is truncated"),
                                  HasSubstr("data/chunk-001/file-000.parquet is a pointer text"),
                                  HasSubstr("videos/observation.image/chunk-000/file-000.mp4: it is a pointer text"),
                                  HasSubstr("videos/observation.image/chunk-001/file-000.mp4: it is missing"),
                                  HasSubstr("git lfs pull")));
}

TEST_F(Corruption, UnusableMetaFilesAreListedWithTheDataThatIsUnusableToo) {
  copy("pusht_image");
  overwrite("meta/episodes/chunk-000/file-000.parquet", "");
  overwrite("meta/tasks.parquet", kPointer);
  cut("data/chunk-000/file-000.parquet", 100);
  const std::string message = open_error();
  EXPECT_THAT(message,
              AllOf(HasSubstr("meta/episodes/chunk-000/file-000.parquet is empty (0 bytes)"),
                    HasSubstr("meta/tasks.parquet is a pointer text"),
                    HasSubstr("data/chunk-000/file-000.parquet is truncated"), Not(HasSubstr("file-001.parquet is"))));
}

TEST_F(Corruption, InfoJsonThatIsNoJsonNamesTheLine) {
  copy("pusht_keypoints");
  overwrite("meta/info.json", "{\n  \"codebase_version\": \"v3.0\",\n  oops\n}");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("info.json"), HasSubstr("3")));
}

}  // namespace
}  // namespace lerobot::data
