#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/data/buffer.h"

namespace lerobot::data {

/// Gives out arrays and takes their memory back when the last copy of the Buffer goes: pages of new memory cost more
/// than what is written to them. Thread-safe; buffers may outlive the pool.
class BufferPool {
 public:
  /// `idle_bytes`: how much memory may wait for its next use.
  explicit BufferPool(std::size_t idle_bytes);

  /// An array with any bytes in it.
  Buffer take(DType dtype, std::vector<std::int64_t> shape);
  /// Memory that waits for its next use.
  std::size_t idle_bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace lerobot::data
