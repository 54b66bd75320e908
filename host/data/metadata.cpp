#include "host/data/metadata.h"

#include <algorithm>
#include <unordered_set>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/data/meta_files.h"

namespace lerobot::data {

void add_task(MetaFiles& meta, std::string_view file, std::int64_t index, std::string text) {
  if (!meta.tasks.emplace(index, std::move(text)).second) {
    fail(ErrorKind::kData, "{}: task_index {} is there twice.", file, index);
  }
}

DatasetMetadata DatasetMetadata::load(const std::filesystem::path& root) {
  if (!std::filesystem::exists(root / "meta" / "info.json")) {
    fail(ErrorKind::kData, "no dataset at {}: meta/info.json is not there. Check --dataset.root.", root.string());
  }
  DatasetMetadata metadata;
  metadata.root_ = root;
  metadata.load_info();
  const MetaContext context{root, metadata.features_, metadata.video_keys_, metadata.fps_, metadata.chunks_size_};
  MetaFiles files = metadata.layout().version == Version::kV21 ? read_meta_v21(context) : read_meta_v30(context);
  metadata.tasks_ = std::move(files.tasks);
  metadata.episodes_ = std::move(files.episodes);
  metadata.stats_ = std::move(files.stats);
  metadata.check_episodes();
  return metadata;
}

void DatasetMetadata::check_episodes() const {
  if (episodes_.empty()) fail(ErrorKind::kData, "{}: there are no episodes.", layout().episodes);
  std::unordered_set<std::int64_t> seen;
  std::vector<const Episode*> by_start;
  for (const Episode& episode : episodes_) {
    if (!seen.insert(episode.index).second) {
      fail(ErrorKind::kData, "{}: episode {} is there twice. Remove one of its rows.", layout().episodes,
           episode.index);
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (episode.from < 0 || episode.to <= episode.from || episode.to > kMost) {
      fail(ErrorKind::kData, "{}: episode {} has frames {} to {}, needed at least one, and numbers from 0 to {}.",
           layout().episodes, episode.index, episode.from, episode.to, kMost);
    }
    by_start.push_back(&episode);
  }
  std::sort(by_start.begin(), by_start.end(), [](const Episode* a, const Episode* b) { return a->from < b->from; });
  for (std::size_t i = 1; i < by_start.size(); ++i) {
    if (by_start[i]->from < by_start[i - 1]->to) {
      fail(ErrorKind::kData, "{}: episodes {} and {} share frames ({} to {} and {} to {}).", layout().episodes,
           by_start[i - 1]->index, by_start[i]->index, by_start[i - 1]->from, by_start[i - 1]->to, by_start[i]->from,
           by_start[i]->to);
    }
  }
  const auto rows = static_cast<std::int64_t>(episodes_.size());
  if (declared_episodes_ >= 0 && declared_episodes_ != rows) {
    log::warn("meta/info.json: total_episodes is {}, but {} lists {} episodes; the list is used", declared_episodes_,
              layout().episodes, rows);
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
    fail(ErrorKind::kData, "{}: task_index {} is used by the data but has no text there.", layout().tasks, task_index);
  }
  return found->second;
}

std::string DatasetMetadata::data_path(const Episode& episode) const {
  return data_path_.path(episode.data_chunk, episode.data_file);
}

std::vector<std::string> DatasetMetadata::data_files(const std::vector<Episode>& episodes) const {
  std::vector<std::string> files;
  for (const Episode& episode : episodes) files.push_back(data_path(episode));
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::string DatasetMetadata::video_path(const Episode& episode, std::size_t video) const {
  const EpisodeVideo& place = episode.videos[video];
  return video_path_.path(place.chunk, place.file, video_keys_[video]);
}

std::vector<std::string> DatasetMetadata::files(const Episode& episode) const {
  std::vector<std::string> files = {data_path(episode)};
  for (std::size_t video = 0; video < episode.videos.size(); ++video) files.push_back(video_path(episode, video));
  return files;
}

}  // namespace lerobot::data
