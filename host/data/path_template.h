#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lerobot::data {

/// A file path of info.json in Python's format syntax: the fields chunk_index, file_index and video_key, whole numbers
/// with an optional width (`{chunk_index:03d}`).
class PathTemplate {
 public:
  PathTemplate() = default;
  /// Throws Error(kData) naming `key` for an unknown field, a bad width, or a path that leaves the dataset's root.
  PathTemplate(std::string text, std::string_view key);

  /// A path relative to the dataset's root.
  std::string path(std::int64_t chunk, std::int64_t file, std::string_view video_key = {}) const;
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace lerobot::data
