#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/data/buffer.h"
#include "host/data/parquet_file.h"

namespace parquet {
class ColumnReader;
}

namespace lerobot::data {

/// Columns of numbers of one parquet file, read as parquet stores them. ParquetFile's batches cost several times as
/// much for each row group, and Python's writer makes one of each episode. What is rare (16-bit floats, lists of
/// lists, ...) or wrong (nulls, lists of different lengths) is left to ParquetFile.
class NumberScan {
 public:
  struct Column {
    std::string name;
    std::int64_t width = 1;  ///< numbers per row
    DType dtype = DType::kFloat32;
  };
  /// The columns' numbers of some consecutive rows, (rows, width), in the order asked for.
  using Visit = std::function<void(std::int64_t rows, const std::vector<Buffer>& columns)>;

  /// `file` must live as long.
  NumberScan(const ParquetFile& file, std::vector<Column> columns);

  /// Whether all columns are of types that are read here.
  bool suits() const;
  /// Passes over the file, in order; several threads read ahead. False at the first rows with nulls or uneven lists.
  /// Throws Error(kData) naming the file when it cannot be read.
  bool for_each_batch(const Visit& visit) const;

 private:
  class Batch;
  /// A row group's columns, to be read in steps.
  std::vector<std::shared_ptr<parquet::ColumnReader>> open_group(int group) const;
  /// Reads whole row groups, first to last, into one batch.
  Batch read_groups(int first, int last) const;
  std::int64_t rows_of(int group) const;
  bool visit_large_group(int group, const Visit& visit) const;

  /// The only leaf of a column, or -1 when it is not read here.
  int find_leaf(const Column& column) const;

  const ParquetFile& file_;
  std::vector<Column> columns_;
  std::vector<int> leaves_;
};

}  // namespace lerobot::data
