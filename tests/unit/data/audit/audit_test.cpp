// What an audit finds: nothing in sound datasets, and the right file in copies that are broken in one way each.
#include "host/data/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/unit/data/audit/parquet_edit.h"
#include "tests/unit/data/file_edit.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kDatasets = LEROBOT_TEST_DATA "/datasets";

const std::string kInfo = "meta/info.json", kStats = "meta/stats.json", kTasks = "meta/tasks.parquet",
                  kEpisodes = "meta/episodes/chunk-000/file-000.parquet", kData = "data/chunk-000/file-000.parquet",
                  kVideo = "videos/observation.image/chunk-000/file-000.mp4";

/// Overwrites a share of the file's bytes from a share of its length on.
void damage(const fs::path& file, double from, double share) {
  const auto size = static_cast<double>(fs::file_size(file));
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(size * from));
  stream << std::string(static_cast<std::size_t>(size * share), '\x5a');
}

Audit audit(const fs::path& root, bool everything = true) {
  AuditOptions options;
  options.root = root;
  options.everything = everything;
  return audit_dataset(options);
}

TEST(Audit, FindsNothingInSoundDatasets) {
  for (const auto& [name, frames] : std::vector<std::pair<std::string, std::int64_t>>{{"pusht_keypoints", 0},
                                                                                      {"pusht_sim", 1270},
                                                                                      {"pusht_sim_h264", 508},
                                                                                      {"pusht_image", 204},
                                                                                      {"pusht_sim_v21", 400},
                                                                                      {"aloha_sim", 1}}) {
    const Audit found = audit(kDatasets / name, name != "aloha_sim");
    EXPECT_THAT(found.findings, IsEmpty()) << name << ": " << found.findings.front().text;
    EXPECT_EQ(found.frames_decoded, frames) << name;
    EXPECT_GT(found.episodes, 0) << name;
  }
}

TEST(Audit, DecodesOneFrameOfEachCameraUnlessAskedForAll) {
  EXPECT_EQ(audit(kDatasets / "pusht_sim", /*everything=*/false).frames_decoded, 1);
  EXPECT_EQ(audit(kDatasets / "pusht_keypoints", /*everything=*/false).frames_decoded, 0);
}

struct Broken {
  std::string name;
  std::string dataset;
  std::function<void(const fs::path& root)> damage;
  std::string file;  ///< that the finding is to name
  std::string text;  ///< that it is to say
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) {
  return out << broken.name;
}

class BrokenCopy : public testing::TestWithParam<Broken> {};

TEST_P(BrokenCopy, IsFoundAndTheFileNamed) {
  const TempDirectory directory;
  const fs::path root = directory.path() / "dataset";
  fs::copy(kDatasets / GetParam().dataset, root, fs::copy_options::recursive);
  GetParam().damage(root);
  const Audit found = audit(root);
  ASSERT_FALSE(found.findings.empty());
  std::string all;
  bool matches = false;
  for (const Finding& finding : found.findings) {
    EXPECT_EQ(finding.text.find('\n'), std::string::npos) << finding.text;
    matches = matches || (finding.file == GetParam().file && finding.text.find(GetParam().text) != std::string::npos);
    all += finding.file + ": " + finding.text + "\n";
  }
  EXPECT_TRUE(matches) << "needed " << GetParam().file << " and \"" << GetParam().text << "\", found\n" << all;
}

/// The start of a feature's entry in info.json, up to the first number of its shape.
std::string shape_of(const std::string& feature) {
  return "\"" + feature + "\": {\n            \"dtype\": \"float32\",\n            \"shape\": [\n                ";
}

std::vector<Broken> broken_data() {
  const std::string second = "data/chunk-000/file-001.parquet";
  return {
      {"TruncatedData", "pusht_image", [](const fs::path& root) { cut(root / kData, 100); }, kData, "truncated"},
      {"EmptyData", "pusht_keypoints", [](const fs::path& root) { overwrite(root / kData, ""); }, kData,
       "empty (0 bytes)"},
      {"PointerInsteadOfData", "pusht_keypoints", [](const fs::path& root) { overwrite(root / kData, kPointer); },
       kData, "pointer"},
      {"MissingData", "pusht_image", [=](const fs::path& root) { fs::remove(root / second); }, second, "missing"},
      {"DamagedFooter", "pusht_keypoints", [](const fs::path& root) { damage(root / kData, 0.99, 0.005); }, kData,
       "cannot be read as parquet"},
      {"DamagedPages", "pusht_keypoints", [](const fs::path& root) { damage(root / kData, 0.2, 0.3); }, kData, kData},
      {"SwappedDataFiles", "pusht_image", [=](const fs::path& root) { swap_files(root / kData, root / second); }, kData,
       "0 rows"},
      {"BadTimestamp", "pusht_keypoints", [](const fs::path& root) { set_float(root / kData, "timestamp", 7, 123.0F); },
       kData, "timestamp"},
      {"NanInState", "pusht_keypoints",
       [](const fs::path& root) { set_float(root / kData, "observation.state", 15, std::nanf("")); }, kData,
       "observation.state has 1 values that are not finite, the first in row 7"},
      {"InfinityInAction", "pusht_sim", [](const fs::path& root) { set_float(root / kData, "action", 0, INFINITY); },
       kData, "action has 1 values that are not finite, the first in row 0"},
      {"TaskWithoutText", "pusht_keypoints",
       [](const fs::path& root) { add_to_integer(root / kData, "task_index", 3, 5); }, kData, "task_index 5"},
      {"MissingColumn", "pusht_keypoints", [](const fs::path& root) { remove_column(root / kData, "action"); }, kData,
       "action"},
      {"TooFewRows", "pusht_keypoints", [](const fs::path& root) { remove_last_rows(root / kData, 4); }, kData,
       "meta/episodes says"},
      {"WrongShape", "pusht_keypoints",
       [](const fs::path& root) {
         replace(root / kInfo, shape_of("observation.state") + "2", shape_of("observation.state") + "3");
       },
       kData, "observation.state has 2 numbers per row, needed 3"},
      {"DamagedPng", "pusht_image", [=](const fs::path& root) { damage(root / second, 0.3, 0.1); }, second, second},
  };
}

std::vector<Broken> broken_videos() {
  const std::string second = "videos/observation.image/chunk-001/file-000.mp4";
  return {
      {"MissingVideo", "pusht_sim_h264", [=](const fs::path& root) { fs::remove(root / second); }, second, "missing"},
      {"CutVideo", "pusht_sim_h264", [](const fs::path& root) { cut(root / kVideo, 1000); }, kVideo, "truncated"},
      {"EmptyVideo", "pusht_sim", [](const fs::path& root) { overwrite(root / kVideo, ""); }, kVideo, "empty"},
      {"PointerInsteadOfVideo", "pusht_sim", [](const fs::path& root) { overwrite(root / kVideo, kPointer); }, kVideo,
       "pointer text"},
      {"DamagedVideo", "pusht_sim", [](const fs::path& root) { damage(root / kVideo, 0.5, 0.2); }, kVideo, kVideo},
      {"SwappedVideos", "pusht_sim_h264", [=](const fs::path& root) { swap_files(root / kVideo, root / second); },
       kVideo, "which has"},
      {"VideoOfAnotherSize", "pusht_sim_h264",
       [](const fs::path& root) { replace(root / kInfo, "96,\n                96,\n", "48,\n                64,\n"); },
       kVideo, "96x96"},
      {"WrongSpanInVideo", "pusht_sim",
       [](const fs::path& root) { add_to_integer(root / kEpisodes, "videos/observation.image/file_index", 2, 3); },
       "videos/observation.image/chunk-000/file-003.mp4", "missing"},
  };
}

std::vector<Broken> broken_metadata() {
  return {
      {"BadJson", "pusht_keypoints", [](const fs::path& root) { overwrite(root / kInfo, "{\n  \"fps\": oops\n}"); },
       kInfo, "info.json"},
      {"DuplicateKeys", "pusht_keypoints",
       [](const fs::path& root) { replace(root / kInfo, "\"fps\": 10,", "\"fps\": 10, \"fps\": 20,"); }, kInfo, "fps"},
      {"BadVersion", "pusht_keypoints", [](const fs::path& root) { replace(root / kInfo, "\"v3.0\"", "\"v4.0\""); },
       kInfo, "v4.0"},
      {"NoFps", "pusht_keypoints", [](const fs::path& root) { replace(root / kInfo, "\"fps\": 10,", "\"fps\": 0,"); },
       kInfo, "needed a number above 0"},
      {"WrongTotals", "pusht_keypoints",
       [](const fs::path& root) { replace(root / kInfo, "\"total_frames\": 1270", "\"total_frames\": 1271"); }, kInfo,
       "total_frames is 1271, but there are 1270"},
      {"PathOutOfTheDataset", "pusht_keypoints",
       [](const fs::path& root) { replace(root / kInfo, "\"data/chunk-{", "\"../data/chunk-{"); }, kInfo, "data_path"},
      {"EmptyTasks", "pusht_keypoints", [](const fs::path& root) { overwrite(root / kTasks, ""); }, kTasks,
       "empty (0 bytes)"},
      {"MissingTasks", "pusht_keypoints", [](const fs::path& root) { fs::remove(root / kTasks); }, kTasks, "missing"},
      {"MissingEpisodes", "pusht_keypoints", [](const fs::path& root) { fs::remove_all(root / "meta/episodes"); },
       "meta/episodes", "no file matches"},
      {"TruncatedEpisodes", "pusht_keypoints", [](const fs::path& root) { cut(root / kEpisodes, 50); }, kEpisodes,
       "truncated"},
      {"OverlappingEpisodes", "pusht_keypoints",
       [](const fs::path& root) { add_to_integer(root / kEpisodes, "dataset_to_index", 1, 7); }, "meta/episodes",
       "share frames"},
      {"EpisodeTwice", "pusht_keypoints",
       [](const fs::path& root) { add_to_integer(root / kEpisodes, "episode_index", 1, 1); }, "meta/episodes",
       "there twice"},
      {"WrongLength", "pusht_keypoints",
       [](const fs::path& root) { add_to_integer(root / kEpisodes, "dataset_to_index", 11, -3); }, kData,
       "but meta/episodes says"},
      {"ChunkThatIsNotThere", "pusht_keypoints",
       [](const fs::path& root) { add_to_integer(root / kEpisodes, "data/chunk_index", 4, 7); },
       "data/chunk-007/file-000.parquet", "missing"},
      {"StatisticsThatAreNoNumbers", "pusht_keypoints",
       [](const fs::path& root) { replace(root / kStats, "\"mean\": [", "\"mean\": [\"x\", "); }, kStats, "mean"},
      {"StatisticsThatAreNotFinite", "pusht_keypoints",
       [](const fs::path& root) { overwrite(root / kStats, R"({"action": {"mean": [NaN, 1], "std": [1, 1]}})"); },
       kStats, "mean of action is not finite"},
  };
}

std::vector<Broken> all_broken() {
  std::vector<Broken> all = broken_data();
  for (const auto& more : {broken_videos(), broken_metadata()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, BrokenCopy, testing::ValuesIn(all_broken()),
                         [](const testing::TestParamInfo<Broken>& one) { return one.param.name; });

TEST(Audit, ListsFindingsThatHaveNothingToDoWithEachOtherTogether) {
  const TempDirectory directory;
  const fs::path root = directory.path() / "dataset";
  fs::copy(kDatasets / "pusht_sim_h264", root, fs::copy_options::recursive);
  cut(root / kVideo, 1000);
  set_float(root / kData, "action", 0, NAN);
  overwrite(root / "data/chunk-001/file-000.parquet", "");
  overwrite(root / kStats, R"({"action": {"mean": [NaN, 1], "std": [1, 1]}})");
  const Audit found = audit(root);
  std::vector<std::string> files;
  for (const Finding& finding : found.findings) files.push_back(finding.file);
  EXPECT_THAT(files, testing::IsSupersetOf({kVideo, kData, std::string("data/chunk-001/file-000.parquet"), kStats}));
}

TEST(Audit, DecodesTheSoundEpisodesBesideTheOthers) {
  const TempDirectory directory;
  const fs::path root = directory.path() / "dataset";
  fs::copy(kDatasets / "pusht_sim_h264", root, fs::copy_options::recursive);
  fs::remove(root / kVideo);
  const Audit found = audit(root);
  ASSERT_EQ(found.findings.size(), 1U) << found.findings.back().text;
  EXPECT_GT(found.frames_decoded, 0);
  EXPECT_LT(found.frames_decoded, found.frames);
}

TEST(Audit, RefusesAFolderWithoutADataset) {
  const TempDirectory directory;
  EXPECT_THAT(data_error_of([&] { audit(directory.path()); }),
              AllOf(HasSubstr(directory.path().string()), HasSubstr("meta/info.json")));
}

}  // namespace
}  // namespace lerobot::data
