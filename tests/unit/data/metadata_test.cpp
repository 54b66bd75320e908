#include "host/data/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/data/path_template.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kData = LEROBOT_TEST_DATA;

TEST(DatasetMetadata, ReadsARecordedDatasetOfTwoChunks) {
  const DatasetMetadata metadata = DatasetMetadata::load(kData / "datasets/pusht_sim_h264");
  EXPECT_EQ(metadata.version(), "v3.0");
  EXPECT_EQ(metadata.fps(), 10);
  EXPECT_EQ(metadata.robot_type(), "2d pointer");
  EXPECT_EQ(metadata.total_frames(), 508);
  EXPECT_THAT(metadata.video_keys(), ElementsAre("observation.image"));
  EXPECT_TRUE(metadata.image_keys().empty());
  EXPECT_THAT(metadata.camera_keys(), ElementsAre("observation.image"));
  ASSERT_EQ(metadata.episodes().size(), 4u);
  const Episode& last = metadata.episodes().back();
  EXPECT_EQ(last.index, 3);
  EXPECT_EQ(last.to, 508);
  EXPECT_THAT(last.tasks, ElementsAre(metadata.task(0)));
  EXPECT_EQ(metadata.data_path(last), "data/chunk-001/file-000.parquet");
  EXPECT_EQ(metadata.video_path(last, 0), "videos/observation.image/chunk-001/file-000.mp4");
  EXPECT_GT(last.videos[0].to_timestamp, last.videos[0].from_timestamp);
  EXPECT_THAT(metadata.features().find("observation.state")->names, ElementsAre("motor_0", "motor_1"));
  EXPECT_THAT(data_error_of([&] { metadata.task(9); }), HasSubstr("task_index 9"));
}

TEST(PathTemplate, FillsItsFields) {
  const PathTemplate path("videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4", "video_path",
                          kLayoutV30.fields);
  EXPECT_EQ(path.path(2, 1234, "front"), "videos/front/chunk-002/file-1234.mp4");
  EXPECT_EQ(PathTemplate("{chunk_index}-{file_index:05d}", "x", kLayoutV30.fields).path(7, 7), "7-00007");
  const PathTemplate old(std::string(kLayoutV21.video_path), "video_path", kLayoutV21.fields);
  EXPECT_EQ(old.path(1, 1234, "front"), "videos/chunk-001/front/episode_001234.mp4");
}

TEST(PathTemplate, RefusesUnknownFieldsAndPathsOutsideTheDataset) {
  for (const char* text :
       {"{episode_chunk:03d}.mp4", "{chunk_index:x}", "{chunk_index", "a}b", "../{file_index}", "/data/{file_index}"}) {
    EXPECT_THAT(data_error_of([&] { PathTemplate(text, "data_path", kLayoutV30.fields); }), HasSubstr("data_path"))
        << text;
  }
}

}  // namespace
}  // namespace lerobot::data
