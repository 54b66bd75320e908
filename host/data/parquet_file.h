#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/data/buffer.h"

namespace parquet {
class ParquetFileReader;
}

namespace lerobot::data {

/// Some consecutive rows of some columns of a parquet file. Valid inside the callback that got it.
class ParquetBatch {
 public:
  ParquetBatch(const void* batch, std::string_view file) : batch_(batch), file_(file) {}

  std::int64_t rows() const;
  /// `width` numbers per row, nested lists flattened, as an array (rows, width) of type kBool, kInt64, kFloat32 or
  /// kFloat64. Throws Error(kData) for another width, nulls, and values that the type cannot hold (float to integer).
  Buffer numbers(std::string_view column, std::int64_t width, DType type) const;
  std::vector<std::string> strings(std::string_view column) const;
  std::vector<std::vector<std::string>> string_lists(std::string_view column) const;

 private:
  const void* batch_;
  std::string_view file_;
};

/// A parquet file, read in batches of bounded size and only the columns asked for. All errors are Error(kData) with the
/// relative path.
class ParquetFile {
 public:
  ParquetFile(const std::filesystem::path& root, std::string relative_path);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  const std::string& relative_path() const;
  std::int64_t rows() const;
  /// Top-level columns in the file's order.
  const std::vector<std::string>& columns() const;
  bool has_column(std::string_view name) const;
  bool is_string_column(std::string_view name) const;
  /// Throws unless all are there; `source` says who needs them.
  void require_columns(const std::vector<std::string>& names, std::string_view source) const;

  void for_each_batch(const std::vector<std::string>& columns,
                      const std::function<void(const ParquetBatch&)>& visit) const;

  /// For the sources that use Arrow.
  parquet::ParquetFileReader& reader() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lerobot::data
