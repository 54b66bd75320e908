#include "host/data/buffer_pool.h"

#include <mutex>

namespace lerobot::data {

struct BufferPool::State {
  struct Block {
    std::size_t bytes;
    std::unique_ptr<std::byte[]> data;
  };

  const std::size_t limit;
  std::mutex mutex;
  std::vector<Block> idle;  ///< the most recently used last: its pages are the likeliest in a cache
  std::size_t idle_bytes = 0;

  explicit State(std::size_t limit_bytes) : limit(limit_bytes) {}

  std::unique_ptr<std::byte[]> take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex);
      for (auto block = idle.rbegin(); block != idle.rend(); ++block) {
        if (block->bytes != bytes) continue;
        auto data = std::move(block->data);
        idle.erase(std::next(block).base());
        idle_bytes -= bytes;
        return data;
      }
    }
    return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
  }

  void put_back(std::size_t bytes, std::unique_ptr<std::byte[]> data) {
    const std::lock_guard lock(mutex);
    if (idle_bytes + bytes > limit) return;
    idle.push_back({bytes, std::move(data)});
    idle_bytes += bytes;
  }
};

BufferPool::BufferPool(std::size_t idle_bytes) : state_(std::make_shared<State>(idle_bytes)) {}

Buffer BufferPool::take(DType dtype, std::vector<std::int64_t> shape) {
  Buffer buffer{dtype, std::move(shape), nullptr};
  const std::size_t bytes = buffer.bytes();
  buffer.data = {state_->take(bytes).release(), [state = state_, bytes](std::byte* data) {
                   state->put_back(bytes, std::unique_ptr<std::byte[]>(data));
                 }};
  return buffer;
}

std::size_t BufferPool::idle_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->idle_bytes;
}

}  // namespace lerobot::data
