#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/feature.h"
#include "host/data/layout.h"
#include "host/data/path_template.h"
#include "host/data/stats.h"

namespace lerobot::data {

/// Where one camera's frames of an episode are: a file, and seconds inside it.
struct EpisodeVideo {
  std::int64_t chunk = 0;
  std::int64_t file = 0;
  double from_timestamp = 0;
  double to_timestamp = 0;
};

struct Episode {
  std::int64_t index = 0;         ///< its number: looked up by value, numbers may have gaps
  std::int64_t from = 0, to = 0;  ///< global frame numbers, half-open
  std::vector<std::string> tasks;
  std::int64_t data_chunk = 0, data_file = 0;
  std::vector<EpisodeVideo> videos;  ///< in the order of DatasetMetadata::video_keys()
  std::int64_t first_row = 0;        ///< of its frames among the rows of a Dataset

  std::int64_t length() const { return to - from; }
};

/// What meta/ says about a LeRobotDataset v3.0 or v2.1. Everything is checked when it is loaded: Error(kData), one
/// line.
class DatasetMetadata {
 public:
  static DatasetMetadata load(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return root_; }
  const std::string& version() const { return version_; }  ///< as written: "v3.0"
  const Layout& layout() const { return *layout_; }
  const std::string& robot_type() const { return robot_type_; }  ///< empty when null
  double fps() const { return fps_; }
  const OrderedMap<FeatureSpec>& features() const { return features_; }
  const DatasetStats& stats() const { return stats_; }
  /// In the order of the files' rows; of v2.1 by number.
  const std::vector<Episode>& episodes() const { return episodes_; }
  std::int64_t total_frames() const;  ///< the episodes' lengths added up

  /// Keys in the order of features().
  const std::vector<std::string>& video_keys() const { return video_keys_; }
  const std::vector<std::string>& image_keys() const { return image_keys_; }
  std::vector<std::string> camera_keys() const;
  /// Cameras that are not depth maps: those that imagenet_stats is for.
  std::vector<std::string> color_camera_keys() const;

  /// The text of a task, by the value of its index. Throws Error(kData) for one that the list of tasks lacks.
  const std::string& task(std::int64_t task_index) const;
  const std::unordered_map<std::int64_t, std::string>& tasks() const { return tasks_; }

  /// Paths relative to root().
  std::string data_path(const Episode& episode) const;
  /// Of these episodes: each file once, sorted by path.
  std::vector<std::string> data_files(const std::vector<Episode>& episodes) const;
  std::string video_path(const Episode& episode, std::size_t video) const;
  /// All files that an episode needs: its data, then its videos.
  std::vector<std::string> files(const Episode& episode) const;

 private:
  void load_info();
  void check_episodes() const;

  std::filesystem::path root_;
  std::string version_;
  const Layout* layout_ = nullptr;
  std::string robot_type_;
  double fps_ = 0;
  std::int64_t chunks_size_ = 0;
  std::int64_t declared_episodes_ = -1, declared_frames_ = -1;  ///< -1: info.json does not say
  OrderedMap<FeatureSpec> features_;
  std::vector<std::string> video_keys_, image_keys_;
  PathTemplate data_path_, video_path_;
  DatasetStats stats_;
  std::unordered_map<std::int64_t, std::string> tasks_;
  std::vector<Episode> episodes_;
};

}  // namespace lerobot::data
