#include "host/data/metadata.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/data/parquet_file.h"

namespace lerobot::data {
namespace {

constexpr const char* kTasksPath = "meta/tasks.parquet";
constexpr const char* kEpisodesPath = "meta/episodes";

/// meta/episodes/*/*.parquet, sorted by path.
std::vector<std::string> find_episode_files(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& chunk : fs::directory_iterator(root / kEpisodesPath, error)) {
    if (!chunk.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(chunk.path())) {
      if (file.path().extension() == ".parquet") files.push_back(fs::relative(file.path(), root).generic_string());
    }
  }
  if (files.empty()) {
    fail(ErrorKind::kData, "dataset {}: no file matches {}/*/*.parquet. Fetch the dataset's meta folder again.",
         root.string(), kEpisodesPath);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The column with the tasks' text: by name, as pandas' unnamed index, or the only text there is.
std::string find_task_column(const ParquetFile& file) {
  for (const char* name : {"task", "__index_level_0__"}) {
    if (file.is_string_column(name)) return name;
  }
  std::vector<std::string> texts;
  for (const std::string& name : file.columns()) {
    if (file.is_string_column(name)) texts.push_back(name);
  }
  if (texts.size() == 1) return texts.front();
  fail(ErrorKind::kData, "{}: no column holds the tasks' text (looked for task and __index_level_0__ in: {}).",
       kTasksPath, join(file.columns(), ", "));
}

std::string video_column(const std::string& key, std::string_view field) {
  return "videos/" + key + "/" + std::string(field);
}

std::vector<std::string> episode_columns(const std::vector<std::string>& video_keys) {
  std::vector<std::string> columns = {"episode_index", "data/chunk_index", "data/file_index", "dataset_from_index",
                                      "dataset_to_index"};
  for (const std::string& key : video_keys) {
    for (const char* field : {"chunk_index", "file_index", "from_timestamp", "to_timestamp"}) {
      columns.push_back(video_column(key, field));
    }
  }
  return columns;
}

std::vector<Episode> read_batch(const ParquetBatch& batch, const std::vector<std::string>& video_keys,
                                bool with_tasks) {
  std::vector<Episode> episodes(static_cast<std::size_t>(batch.rows()));
  const auto integers = [&](const std::string& column, const auto& assign) {
    const Buffer values = batch.numbers(column, 1, DType::kInt64);
    for (std::size_t i = 0; i < episodes.size(); ++i) assign(episodes[i], elements_of<std::int64_t>(values)[i]);
  };
  const auto seconds = [&](const std::string& column, const auto& assign) {
    const Buffer values = batch.numbers(column, 1, DType::kFloat64);
    for (std::size_t i = 0; i < episodes.size(); ++i) assign(episodes[i], elements_of<double>(values)[i]);
  };
  integers("episode_index", [](Episode& episode, std::int64_t value) { episode.index = value; });
  integers("data/chunk_index", [](Episode& episode, std::int64_t value) { episode.data_chunk = value; });
  integers("data/file_index", [](Episode& episode, std::int64_t value) { episode.data_file = value; });
  integers("dataset_from_index", [](Episode& episode, std::int64_t value) { episode.from = value; });
  integers("dataset_to_index", [](Episode& episode, std::int64_t value) { episode.to = value; });
  for (Episode& episode : episodes) episode.videos.resize(video_keys.size());
  for (std::size_t v = 0; v < video_keys.size(); ++v) {
    const std::string& key = video_keys[v];
    integers(video_column(key, "chunk_index"), [v](Episode& e, std::int64_t value) { e.videos[v].chunk = value; });
    integers(video_column(key, "file_index"), [v](Episode& e, std::int64_t value) { e.videos[v].file = value; });
    seconds(video_column(key, "from_timestamp"), [v](Episode& e, double value) { e.videos[v].from_timestamp = value; });
    seconds(video_column(key, "to_timestamp"), [v](Episode& e, double value) { e.videos[v].to_timestamp = value; });
  }
  if (with_tasks) {
    auto tasks = batch.string_lists("tasks");
    for (std::size_t i = 0; i < episodes.size(); ++i) episodes[i].tasks = std::move(tasks[i]);
  }
  return episodes;
}

}  // namespace

DatasetMetadata DatasetMetadata::load(const std::filesystem::path& root) {
  if (!std::filesystem::exists(root / "meta" / "info.json")) {
    fail(ErrorKind::kData, "no dataset at {}: meta/info.json is not there. Check --dataset.root.", root.string());
  }
  DatasetMetadata metadata;
  metadata.root_ = root;
  metadata.load_info();
  metadata.stats_ = load_stats(root, metadata.features_);
  std::vector<std::string> files = find_episode_files(root);
  files.insert(files.begin(), kTasksPath);
  check_parquet_files(root, files);
  metadata.load_tasks();
  metadata.load_episodes();
  metadata.check_episodes();
  return metadata;
}

void DatasetMetadata::load_tasks() {
  const ParquetFile file(root_, kTasksPath);
  file.require_columns({"task_index"}, "the list of tasks");
  const std::string text_column = find_task_column(file);
  file.for_each_batch({"task_index", text_column}, [&](const ParquetBatch& batch) {
    const Buffer indices = batch.numbers("task_index", 1, DType::kInt64);
    std::vector<std::string> texts = batch.strings(text_column);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::int64_t index = elements_of<std::int64_t>(indices)[i];
      if (!tasks_.emplace(index, std::move(texts[i])).second) {
        fail(ErrorKind::kData, "{}: task_index {} is there twice.", kTasksPath, index);
      }
    }
  });
}

void DatasetMetadata::load_episodes() {
  for (const std::string& path : find_episode_files(root_)) {
    const ParquetFile file(root_, path);
    std::vector<std::string> columns = episode_columns(video_keys_);
    file.require_columns(columns, "meta/info.json");
    const bool with_tasks = file.has_column("tasks");
    if (with_tasks) columns.push_back("tasks");
    file.for_each_batch(columns, [&](const ParquetBatch& batch) {
      std::vector<Episode> rows = read_batch(batch, video_keys_, with_tasks);
      std::move(rows.begin(), rows.end(), std::back_inserter(episodes_));
    });
  }
}

void DatasetMetadata::check_episodes() const {
  if (episodes_.empty()) fail(ErrorKind::kData, "{}: there are no episodes.", kEpisodesPath);
  std::unordered_set<std::int64_t> seen;
  std::vector<const Episode*> by_start;
  for (const Episode& episode : episodes_) {
    if (!seen.insert(episode.index).second) {
      fail(ErrorKind::kData, "{}: episode {} is there twice. Remove one of its rows.", kEpisodesPath, episode.index);
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (episode.from < 0 || episode.to <= episode.from || episode.to > kMost) {
      fail(ErrorKind::kData, "{}: episode {} has frames {} to {}, needed at least one, and numbers from 0 to {}.",
           kEpisodesPath, episode.index, episode.from, episode.to, kMost);
    }
    by_start.push_back(&episode);
  }
  std::sort(by_start.begin(), by_start.end(), [](const Episode* a, const Episode* b) { return a->from < b->from; });
  for (std::size_t i = 1; i < by_start.size(); ++i) {
    if (by_start[i]->from < by_start[i - 1]->to) {
      fail(ErrorKind::kData, "{}: episodes {} and {} share frames ({} to {} and {} to {}).", kEpisodesPath,
           by_start[i - 1]->index, by_start[i]->index, by_start[i - 1]->from, by_start[i - 1]->to, by_start[i]->from,
           by_start[i]->to);
    }
  }
  const auto rows = static_cast<std::int64_t>(episodes_.size());
  if (declared_episodes_ >= 0 && declared_episodes_ != rows) {
    log::warn("meta/info.json: total_episodes is {}, but {} lists {} episodes; the list is used", declared_episodes_,
              kEpisodesPath, rows);
  }
  if (declared_frames_ >= 0 && declared_frames_ != total_frames()) {
    log::warn("meta/info.json: total_frames is {}, but the episodes have {} frames; the episodes are used",
              declared_frames_, total_frames());
  }
}

std::int64_t DatasetMetadata::total_frames() const {
  std::int64_t frames = 0;
  for (const Episode& episode : episodes_) frames += episode.length();
  return frames;
}

std::vector<std::string> DatasetMetadata::camera_keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, feature] : features_) {
    if (feature.is_camera()) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> DatasetMetadata::color_camera_keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, feature] : features_) {
    if (feature.is_camera() && !feature.is_depth) keys.push_back(key);
  }
  return keys;
}

const std::string& DatasetMetadata::task(std::int64_t task_index) const {
  const auto found = tasks_.find(task_index);
  if (found == tasks_.end()) {
    fail(ErrorKind::kData, "{}: task_index {} is used by the data but has no text there.", kTasksPath, task_index);
  }
  return found->second;
}

std::string DatasetMetadata::data_path(const Episode& episode) const {
  return data_path_.path(episode.data_chunk, episode.data_file);
}

std::string DatasetMetadata::video_path(const Episode& episode, std::size_t video) const {
  const EpisodeVideo& place = episode.videos[video];
  return video_path_.path(place.chunk, place.file, video_keys_[video]);
}

}  // namespace lerobot::data
