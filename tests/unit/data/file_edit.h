#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "host/base/file.h"

// Damage to the files of a test's own copy of a dataset.

namespace lerobot::data {

/// What git-lfs leaves in place of a file that was not fetched.
inline constexpr const char* kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";

inline void overwrite(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// Leaves out the last bytes.
inline void cut(const std::filesystem::path& file, std::uintmax_t bytes) {
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - bytes);
}

/// The first `from`, which must be there, by `to`.
inline void replace(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  std::string text = read_text(file, ErrorKind::kIo);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  overwrite(file, text.replace(at, from.size(), to));
}

inline void swap_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  const std::filesystem::path aside = a.string() + ".aside";
  std::filesystem::rename(a, aside);
  std::filesystem::rename(b, a);
  std::filesystem::rename(aside, b);
}

}  // namespace lerobot::data
