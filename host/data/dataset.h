#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/buffer.h"
#include "host/data/frame_table.h"
#include "host/data/metadata.h"

namespace lerobot::data {

struct DatasetOptions {
  std::filesystem::path root;
  std::shared_ptr<const DatasetMetadata> metadata;  ///< of `root`, where it was read already; null: it is read
  /// Episode numbers to use, or to leave out; nothing or an empty list is all, or none.
  std::optional<std::vector<std::int64_t>> episodes, exclude_episodes;
  /// Seconds relative to the frame, per feature: the item then has a window of these frames.
  OrderedMap<std::vector<double>> delta_timestamps;
  /// Features that items are to have, cameras aside, which they all have; nothing is all. What nobody asks for is not
  /// read.
  std::optional<std::vector<std::string>> features;
  double tolerance_s = 1e-4;  ///< seconds that a timestamp may be off
  std::size_t frame_cache_bytes = std::size_t{1}
                                  << 30;  ///< decoded frames and parquet pages of images, all threads together
};

/// One frame as Python's LeRobotDataset gives it (return_uint8=True): first the video keys, then the other features in
/// their order, then `<key>_is_pad` (bool, one per window entry) of the windowed features.
/// Types and shapes without a window: video uint8 (C, H, W); image float32 (C, H, W) in [0, 1], 16-bit grey unscaled;
/// floats float32, integers int64, bool; one number is (). A window adds a first axis.
struct Item {
  OrderedMap<Buffer> tensors;
  OrderedMap<std::string> strings;  ///< features of dtype string, and last "task"
};

/// One tensor of every item of a dataset.
struct TensorSpec {
  std::string key;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
};

/// A LeRobotDataset v3.0 or v2.1 on the local disk. Opening it checks every file that is needed, decodes one frame of
/// each camera and reads the low-dimensional columns; frames are read on demand. Memory: the columns (see FrameTable),
/// frame_cache_bytes, and one open decoder per thread and up to 32 idle ones.
class Dataset {
 public:
  /// Throws Error(kData): one line that names each offending file and the cure.
  explicit Dataset(DatasetOptions options);
  ~Dataset();
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const DatasetMetadata& metadata() const;
  /// The chosen episodes, in the metadata's order, with their first_row set.
  const std::vector<Episode>& episodes() const;
  std::int64_t num_frames() const;
  std::int64_t num_episodes() const;
  /// The task_index of each row.
  std::span<const std::int64_t> task_indices() const;
  /// The item of a row in 0 .. num_frames() - 1. Thread-safe. Throws Error(kData) naming the file.
  Item item(std::int64_t row) const;
  /// The columns of numbers that were asked for.
  const FrameTable& table() const;
  /// One decoded picture (C, H, W) of a camera: uint8, or float32 for images of more than 8 bits. Otherwise as item().
  std::shared_ptr<const Buffer> picture(std::string_view camera, std::int64_t row) const;
  /// What an item's tensors are, in their order: the same for all rows.
  const std::vector<TensorSpec>& layout() const;
  /// Writes an item's tensors into a batch, which has one tensor for each entry of layout() with room for `slot` + 1
  /// items: a frame out of the cache is copied once, straight to its place. Otherwise as item().
  void read(std::int64_t row, const OrderedMap<Buffer>& batch, std::size_t slot) const;
  /// The text of a row's task.
  const std::string& task(std::int64_t row) const;
  /// "row 17 (episode 3, frame 5)", for messages.
  std::string row_name(std::int64_t row) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lerobot::data
