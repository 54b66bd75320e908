#pragma once

#include <ATen/core/Tensor.h>

namespace lerobot::fused {

/// A 3x3 convolution with stride 1, padding 1 and no bias, on the CPU in float32, by Winograd's F(2x2, 3x3): 2.25 times
/// fewer products than the direct sum, in matrix products over tiles. x (B, C, H, W), weight (O, C, 3, 3). Returns (B,
/// O, H, W) with channels last; so should x be. Differs from the direct sum by rounding only: about 1e-6 of the largest
/// element.
at::Tensor winograd_conv(const at::Tensor& x, const at::Tensor& weight);

}  // namespace lerobot::fused
