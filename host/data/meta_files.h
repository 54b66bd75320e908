#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/data/metadata.h"

namespace lerobot::data {

/// What the files of meta/ beside info.json say, before the episodes are checked against each other.
struct MetaFiles {
  std::unordered_map<std::int64_t, std::string> tasks;
  std::vector<Episode> episodes;
  DatasetStats stats;
};

/// What info.json says that is needed to read the other files.
struct MetaContext {
  const std::filesystem::path& root;
  const OrderedMap<FeatureSpec>& features;
  const std::vector<std::string>& video_keys;
  double fps = 0;
  std::int64_t chunks_size = 0;
};

/// Throw Error(kData) naming the file. v2.1: the statistics of the episodes, aggregated; a file's number is the
/// episode's, its chunk the number / chunks_size, and each video begins with its episode.
MetaFiles read_meta_v30(const MetaContext& context);
MetaFiles read_meta_v21(const MetaContext& context);

/// Notes a task's text. Throws Error(kData) for an index that is there already.
void add_task(MetaFiles& meta, std::string_view file, std::int64_t index, std::string text);

}  // namespace lerobot::data
