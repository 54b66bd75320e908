#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/buffer.h"
#include "host/data/metadata.h"

namespace lerobot::data {

/// The low-dimensional columns of the chosen episodes, each one flat array over all rows, so that a row is found in
/// constant time. Memory: rows x the numbers' sizes (float32 4, int64 8, bool 1 byte), plus one batch while loading.
class FrameTable {
 public:
  struct Column {
    DType dtype = DType::kFloat32;
    std::vector<std::int64_t> row_shape;  ///< () for one number per row
    std::size_t row_bytes = 0;
    std::vector<std::byte> data;

    const std::byte* row(std::int64_t index) const { return data.data() + static_cast<std::size_t>(index) * row_bytes; }
  };
  /// Where an episode's rows are on disk: for columns that are read on demand.
  struct Place {
    std::size_t file = 0;  ///< index into files()
    std::int64_t first_row = -1;
  };

  /// Reads the rows of `episodes` from the data files they name, files in order of their paths, and sets each one's
  /// first_row. Every episode's rows must be there, next to each other, in one file. `features`: what is read, besides
  /// the columns that the layout guarantees and the checks need; nothing is all. Throws Error(kData).
  FrameTable(const DatasetMetadata& metadata, std::vector<Episode>& episodes,
             const std::optional<std::vector<std::string>>& features = std::nullopt);

  std::int64_t rows() const { return rows_; }
  const OrderedMap<Column>& columns() const { return columns_; }
  const OrderedMap<std::vector<std::string>>& strings() const { return strings_; }
  /// Data files, relative to the root.
  const std::vector<std::string>& files() const { return files_; }
  /// The position among the chosen episodes of the one that a row belongs to.
  std::size_t episode_of(std::int64_t row) const { return episode_of_row_[static_cast<std::size_t>(row)]; }
  const Place& place(std::size_t episode) const { return places_[episode]; }

  /// A column with one number per row, which the layout guarantees: `index`, `timestamp`, ...
  const std::int64_t* integers(std::string_view column) const;
  const float* floats(std::string_view column) const;

 private:
  class Loader;

  std::int64_t rows_ = 0;
  OrderedMap<Column> columns_;
  OrderedMap<std::vector<std::string>> strings_;
  std::vector<std::string> files_;
  std::vector<std::uint32_t> episode_of_row_;
  std::vector<Place> places_;
};

}  // namespace lerobot::data
