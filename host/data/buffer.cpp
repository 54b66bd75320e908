#include "host/data/buffer.h"

#include <functional>
#include <numeric>

namespace lerobot::data {

std::int64_t Buffer::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t Buffer::bytes() const {
  return static_cast<std::size_t>(elements()) * item_size(dtype);
}

Buffer make_buffer(DType dtype, std::vector<std::int64_t> shape) {
  Buffer buffer{dtype, std::move(shape), nullptr};
  // Not make_shared: its array of bytes need not be aligned for wider elements.
  buffer.data = std::shared_ptr<std::byte[]>(new std::byte[buffer.bytes()]);
  return buffer;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + ")";
}

}  // namespace lerobot::data
