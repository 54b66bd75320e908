#pragma once

#include <filesystem>

#include "host/checkpoint/checkpoint.h"

namespace lerobot::checkpoint {

/// A checkpoint all of whose parts say its mark, so that a mixture of two is seen. Its tensors are the same each time.
class MarkedCheckpoint {
 public:
  explicit MarkedCheckpoint(std::int64_t elements);

  /// Changes all parts in place.
  const Checkpoint& set(std::int64_t step, std::int64_t mark);

 private:
  Checkpoint state_;
};

/// The mark of a whole checkpoint; throws Error when a part is missing, and std::runtime_error when they differ.
std::int64_t read_mark(const std::filesystem::path& checkpoint_dir);

}  // namespace lerobot::checkpoint
