#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/base/safetensors.h"

namespace lerobot::data {

/// A dense array in host memory: row-major, contiguous. Copies share the bytes. A scalar has an empty shape.
struct Buffer {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::shared_ptr<std::byte[]> data;

  std::int64_t elements() const;
  std::size_t bytes() const;
};

/// A new array with uninitialised bytes.
Buffer make_buffer(DType dtype, std::vector<std::int64_t> shape);

/// The bytes as elements of type T, which must be the type of `dtype`.
template <class T>
T* elements_of(const Buffer& buffer) {
  return reinterpret_cast<T*>(buffer.data.get());
}

/// "(3, 96, 96)", for messages.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace lerobot::data
