#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "host/data/finding.h"

namespace lerobot::data {

struct AuditOptions {
  std::filesystem::path root;
  bool everything = false;  ///< decodes every frame of every camera, not one
  double tolerance_s = 1e-4;
  /// With `everything`: called with the number of episodes before the first, then after each one, from any thread but
  /// one at a time.
  std::function<void(std::int64_t)> on_start;
  std::function<void()> on_episode;
};

struct Audit {
  std::vector<Finding> findings;
  std::int64_t episodes = 0, frames = 0;  ///< that the metadata lists
  std::int64_t frames_decoded = 0;        ///< of all cameras together
};

/// Looks for whatever keeps a dataset from being trained on, with the code that opens it for training, and goes on
/// after what it finds: files of meta/, videos, data files and then the frames of the episodes that are sound so far.
/// Throws Error(kData) when there is no dataset at the root.
Audit audit_dataset(const AuditOptions& options);

}  // namespace lerobot::data
