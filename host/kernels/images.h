#pragma once

#include <cstdint>

// Batch normalization with fixed statistics, folded into a scale and a shift for each channel, and ReLU.

namespace lerobot::kernels {

/// Pixels of a feature map in memory: `runs` runs of `length` floats that belong to one channel each, channel after
/// channel (length > 1: (B, C, H, W)), or pixels of `channels` floats (length 1: channels last).
struct FeatureMap {
  std::int64_t begin, end;  ///< the runs, or the pixels of channels last, to work on
  std::int64_t channels;
  std::int64_t length;
};

/// y <- relu(x * scale + shift + residual). scale, shift: (channels); residual may be null. x and y may be the same.
void scale_relu(const float* x, const float* scale, const float* shift, const float* residual, float* y,
                const FeatureMap& map);

/// The gradients through it, from y: of the residual (null: not wanted) and of x. Either may be `gradient` itself.
void scale_relu_backward(const float* gradient, const float* y, const float* scale, float* x_gradient,
                         float* residual_gradient, const FeatureMap& map);

}  // namespace lerobot::kernels
