#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/data/byte_cache.h"

namespace lerobot::data {

/// Bytes by row out of one leaf column of a parquet file (`observation.image.bytes`). Nothing of the column is kept but
/// the places of its pages: a row costs the reading of its page, which the cache may hold. Thread-safe; no file stays
/// open between calls.
class BinaryColumn {
 public:
  /// `id` (below 2^23) tells this column's pages from others in `cache`. Throws Error(kData) when the file has no such
  /// column of bytes.
  BinaryColumn(const std::filesystem::path& root, std::string relative_path, std::string leaf, std::uint64_t id,
               std::shared_ptr<ByteCache> cache);
  ~BinaryColumn();
  BinaryColumn(BinaryColumn&&) noexcept;
  BinaryColumn& operator=(BinaryColumn&&) noexcept;

  /// The row's bytes; empty when the file has none there.
  std::vector<std::byte> row(std::int64_t row) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lerobot::data
