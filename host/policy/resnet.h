#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/policy/module.h"
#include "host/policy/pass.h"

namespace lerobot::policy {

/// Batch normalization with fixed statistics (torchvision's FrozenBatchNorm2d): four buffers, nothing to train.
struct FrozenBatchNorm {
  at::Tensor weight, bias, running_mean, running_var;  // (channels)
  at::Tensor scale, shift;                             // (1, channels, 1, 1), made by fold()

  explicit FrozenBatchNorm(std::int64_t channels);
  void visit(TensorVisitor& visitor);
  /// Computes scale and shift; needed whenever a buffer was changed or moved.
  void fold();
};

/// x * scale + shift.
at::Tensor frozen_bn(const at::Tensor& x, const FrozenBatchNorm& bn);

/// A convolution without bias and the normalization that follows it.
struct ConvBn {
  at::Tensor weight;  // (out, in, k, k)
  FrozenBatchNorm bn;
  std::int64_t stride;

  ConvBn(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t step);
  at::Tensor conv(const at::Tensor& x, Pass& pass) const;
};

/// Two 3x3 convolutions around a shortcut; a 1x1 convolution in the shortcut where the shape changes.
struct BasicBlock {
  std::optional<ConvBn> downsample;  // drawn before the other two, registered after them
  ConvBn conv1, conv2;

  BasicBlock(std::int64_t in, std::int64_t out, std::int64_t stride);
  void visit(TensorVisitor& visitor);
  at::Tensor operator()(const at::Tensor& x, Pass& pass) const;
};

struct Stage {
  std::array<BasicBlock, 2> blocks;

  Stage(std::int64_t in, std::int64_t out, std::int64_t stride);
  void visit(TensorVisitor& visitor);
  at::Tensor operator()(const at::Tensor& x, Pass& pass) const;
};

/// ResNet-18 (He et al. 2016) up to its last feature map: (B, 3, H, W) -> (B, 512, ceil(H / 32), ceil(W / 32)). Drawn
/// as torchvision's constructor draws, the classifier it throws away included.
struct ResNet18 {
  static constexpr std::int64_t kChannels = 512;

  ConvBn conv1;
  std::vector<Stage> stages;  // layer1 ... layer4

  ResNet18();
  void visit(TensorVisitor& visitor);
  void fold();
  at::Tensor operator()(const at::Tensor& image, Pass& pass) const;
};

}  // namespace lerobot::policy
