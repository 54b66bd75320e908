#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace lerobot::fused {

/// Calls body(begin, end) for parts that together are [0, n), on torch's threads. A part has at least `grain` of them.
void parallel_for(std::int64_t n, std::int64_t grain, c10::function_ref<void(std::int64_t, std::int64_t)> body);

/// Rows that make it worth to wake another thread, for loops over rows of `width` floats.
constexpr std::int64_t grain_of(std::int64_t width) {
  constexpr std::int64_t kFloats = 8192;
  return width >= kFloats ? 1 : kFloats / (width > 0 ? width : 1);
}

}  // namespace lerobot::fused
