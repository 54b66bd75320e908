#pragma once

#include <cstddef>
#include <vector>

namespace lerobot::check {

/// Bytes for a plugin to read or write. Guarded: they end where a page begins that nobody may touch, so that one byte
/// too far ends the process. Plain: zeros follow them.
class Buffer {
 public:
  enum class Kind { kPlain, kGuarded };

  Buffer(const std::vector<std::byte>& content, Kind kind);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::vector<std::byte> content() const { return {data_, data_ + size_}; }

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lerobot::check
