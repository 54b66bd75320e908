#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lerobot::fused {

/// The rows of x (N, D) with these indices (T), int64 and all different: (T, D).
at::Tensor take_rows(const at::Tensor& x, const at::Tensor& indices);

/// The reverse: (n, D) that has row i of x (T, D) at indices[i], and zeros elsewhere.
at::Tensor put_rows(const at::Tensor& x, const at::Tensor& indices, std::int64_t n);

}  // namespace lerobot::fused
