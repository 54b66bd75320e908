#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/file.h"
#include "host/checkpoint/zip_archive.h"

namespace lerobot::checkpoint {

/// Writes a zip archive of stored entries as torch.save lays it out: the bytes of each entry begin at a
/// multiple of 64, checksums are right, zip64 where 32 bits do not suffice. Nothing but the directory is kept in
/// memory. Source: PKWARE APPNOTE 6.3. Throws Error(kIo).
class ZipWriter {
 public:
  /// `zip64_from`: sizes and offsets from here on are written in 64 bits (tests lower it).
  explicit ZipWriter(DurableFile& file, std::uint64_t zip64_from = 0xFFFFFFFF) : file_(file), zip64_from_(zip64_from) {}

  void add(std::string name, Bytes content);
  void add(std::string name, std::string_view content);
  /// Writes the directory, which ends the archive.
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t checksum;
    std::uint64_t size;
    std::uint64_t header;  // offset of its local header
  };

  void write(std::string_view bytes);
  std::string local_header(const Entry& entry) const;
  std::string directory_record(const Entry& entry) const;
  std::string directory_end(std::uint64_t begin) const;
  bool is_large(std::uint64_t value) const { return value >= zip64_from_; }

  DurableFile& file_;
  std::uint64_t zip64_from_;
  std::uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace lerobot::checkpoint
