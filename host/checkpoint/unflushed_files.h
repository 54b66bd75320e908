#pragma once

#include <deque>
#include <filesystem>
#include <vector>

#include "host/base/file.h"

namespace lerobot::checkpoint {

/// New files below one directory whose content is written first and flushed at the end, all together: what they are
/// written from may change between the two.
class UnflushedFiles {
 public:
  explicit UnflushedFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Creates a file by its path inside the directory, in a folder that is made where it is missing. Valid until
  /// flush(). Throws Error(kIo).
  DurableFile& add(const std::filesystem::path& file, unsigned mode = 0644);

  /// Flushes the files, then the names in their folders and in the directory. Throws Error(kIo).
  void flush();

 private:
  std::filesystem::path directory_;
  std::vector<std::filesystem::path> folders_;
  std::deque<DurableFile> files_;
};

}  // namespace lerobot::checkpoint
