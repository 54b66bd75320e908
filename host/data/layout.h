#pragma once

#include <string_view>

#include "host/data/path_template.h"

namespace lerobot::data {

/// The form of a dataset on disk.
enum class Version { kV21, kV30 };

/// What differs by form in paths and messages: names relative to the dataset's root.
struct Layout {
  Version version;
  std::string_view tasks, episodes, stats;
  std::string_view data_path, video_path;  ///< templates, where info.json has none
  PathFields fields;
};

inline constexpr Layout kLayoutV30{Version::kV30,
                                   "meta/tasks.parquet",
                                   "meta/episodes",
                                   "meta/stats.json",
                                   "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
                                   "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
                                   {"chunk_index", "file_index"}};

/// One data file and, for each camera, one video per episode: a file's number is the episode's.
inline constexpr Layout kLayoutV21{Version::kV21,
                                   "meta/tasks.jsonl",
                                   "meta/episodes.jsonl",
                                   "meta/episodes_stats.jsonl",
                                   "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
                                   "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
                                   {"episode_chunk", "episode_index"}};

}  // namespace lerobot::data
