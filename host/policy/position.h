#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lerobot::policy {

/// Sinusoidal table of a sequence (Vaswani et al. 2017): (length, width) float32 on the CPU. Entry (p, j) is the sine
/// (j even) or cosine (j odd) of p / 10000^(2 floor(j / 2) / width), computed in double precision.
at::Tensor sinusoidal_positions(std::int64_t length, std::int64_t width);

/// Sinusoidal table of an image (Carion et al. 2020, DETR): (1, width, height, columns) float32 on the CPU, the first
/// half of the channels for y, the second for x; both axes scaled to (0, 2 pi].
at::Tensor sinusoidal_positions_2d(std::int64_t height, std::int64_t columns, std::int64_t width);

}  // namespace lerobot::policy
