#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/error.h"

namespace lerobot {

/// The whole file. Throws Error(kind): missing, a directory, not permitted.
std::string read_text(const std::filesystem::path& path, ErrorKind kind);

/// Writes a new file and flushes it to disk (fsync). Throws Error(kIo) with the bytes needed and free when the disk is
/// full. `mode` are the permission bits.
void write_durable(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644);

/// write_durable to a temporary sibling, then renamed over `path`: readers see the old content or the new.
void replace_durable(const std::filesystem::path& path, std::string_view content);

/// Flushes a directory's entries (names) to disk.
void sync_directory(const std::filesystem::path& directory);

/// Free bytes on the file system that holds `path` (or its nearest existing parent).
std::uintmax_t free_bytes(const std::filesystem::path& path);

/// A read-only memory map of a whole file.
class MappedFile {
 public:
  MappedFile(const std::filesystem::path& path, ErrorKind kind);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An output stream of bytes that ends in a durable file: write, then finish (flush, fsync, close). Throws Error(kIo).
class DurableFile {
 public:
  explicit DurableFile(const std::filesystem::path& path, unsigned mode = 0644);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* data, std::size_t size);
  void finish();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace lerobot
