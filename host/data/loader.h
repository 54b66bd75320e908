#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/buffer.h"
#include "host/data/dataset.h"
#include "host/data/transforms/image_transforms.h"

namespace lerobot::data {

/// Where in the endless order of samples a loader begins: an epoch, and samples of it that are consumed already.
struct LoaderStart {
  std::int64_t epoch = 0;
  std::int64_t sample = 0;
};

/// Where a run stands after `step` batches of `batch_size` samples from an epoch of `num_samples`, on `world` processes
/// that take turns. The batch size is that of the run which made the steps.
LoaderStart position_after(std::int64_t step, std::int64_t num_samples, std::int64_t batch_size,
                           std::int64_t world = 1);

struct LoaderOptions {
  std::int64_t batch_size = 8;
  std::int64_t num_workers = 4;      ///< threads; 0 loads in the thread that calls next()
  std::int64_t prefetch_factor = 4;  ///< batches made ahead, per worker
  std::int64_t seed = 0;
  LoaderStart start;
  /// When given, one pass over these rows in this order, instead of shuffled epochs without end.
  std::optional<std::vector<std::int64_t>> rows;
  std::int64_t drop_n_last_frames = 0;
  std::shared_ptr<const ImageTransforms> image_transforms;  ///< of colour cameras, drawn with `seed`; null: none
  double stall_warning_s = 60;                              ///< next() warns, each time it has waited that long
  std::function<void()> on_thread_start;  ///< called first in each worker: lets tests be slow or fail there
};

struct Batch {
  OrderedMap<Buffer> tensors;  ///< the items' tensors, stacked on a new first axis
  std::vector<std::string> tasks;
  std::vector<std::int64_t> rows;  ///< of the dataset, one per sample
  std::int64_t epoch = 0;
  std::int64_t batch_in_epoch = 0;
  /// First batch of an epoch's iterator: of a fresh run's first epoch too, not when resuming inside an epoch.
  bool starts_epoch = false;
};

/// Stacks items. Throws Error(kData) naming the tensor when their shapes differ.
Batch collate(const std::vector<Item>& items);

/// Batches in EpisodeAwareSampler's order, for ever, epoch after epoch, or of given rows, once; the last batch of an
/// epoch may be short. The batches are the same whatever the number of workers. At most num_workers x prefetch_factor
/// of them wait in memory.
class DataLoader {
 public:
  /// Starts the workers. Throws Error(kConfig) for sizes below their least value.
  DataLoader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);
  /// Stops the workers after the sample that each is at.
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// The next batch, waiting for it if need be; one without rows after the last batch of a single pass. What a sample
  /// threw comes out here, as an Error that names the sample, now and at every later call. For one thread.
  Batch next();
  std::int64_t batches_per_epoch() const;
  /// Samples of an epoch.
  std::int64_t num_samples() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lerobot::data
