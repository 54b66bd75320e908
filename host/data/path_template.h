#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lerobot::data {

/// What a template's two numbers are called.
struct PathFields {
  std::string_view chunk, file;
};

/// A file path of info.json in Python's format syntax: two numbers with an optional width (`{chunk_index:03d}`) and
/// video_key.
class PathTemplate {
 public:
  PathTemplate() = default;
  /// `fields` are texts that live as long as the program. Throws Error(kData) naming `key` for an unknown field, a bad
  /// width, or a path that leaves the dataset's root.
  PathTemplate(std::string text, std::string_view key, const PathFields& fields);

  /// A path relative to the dataset's root.
  std::string path(std::int64_t chunk, std::int64_t file, std::string_view video_key = {}) const;
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
  PathFields fields_;
};

}  // namespace lerobot::data
