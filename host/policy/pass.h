#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>

#include "host/fused/kernels.h"

// One forward pass, and the choice between two ways to compute what dropout, attention, the feed-forward part,
// normalization and frozen batch normalization do: a policy chooses once, and its layers read the same either way.

namespace lerobot::policy {

struct Attention;
struct FeedForward;
struct FrozenBatchNorm;
struct LayerNorm;
struct Linear;

/// What a layer adds to its input: product + bias. A bias that is not defined is in the product already.
struct Branch {
  at::Tensor product, bias;
};

class Pass {
 public:
  Pass() = default;
  virtual ~Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// x with dropout in training.
  virtual at::Tensor drop(const at::Tensor& x) = 0;
  /// drop(softmax(query key^T / sqrt(d) + mask)): query (N, L, d), key (N, S, d), mask (N, 1, S) or undefined. Returns
  /// (N, L, S).
  virtual at::Tensor attention_weights(const at::Tensor& query, const at::Tensor& key, const at::Tensor& mask) = 0;
  /// The queries, keys and values of attention: see fused::in_projection.
  virtual std::array<at::Tensor, 3> in_projection(const Attention& weights, const at::Tensor& query,
                                                  const at::Tensor& key, const at::Tensor& value) = 0;
  virtual Branch product(const Linear& linear, const at::Tensor& x) = 0;
  /// linear2(drop(activation(linear1(x)))).
  virtual Branch feed_forward(const FeedForward& weights, const at::Tensor& x) = 0;
  /// skip + drop(branch).
  virtual at::Tensor add(const at::Tensor& skip, const Branch& branch) = 0;
  /// norm(skip + drop(branch)).
  virtual at::Tensor add_norm(const at::Tensor& skip, const Branch& branch, const LayerNorm& norm) = 0;
  /// relu(x * scale + shift [+ residual]).
  virtual at::Tensor frozen_bn_relu(const at::Tensor& x, const FrozenBatchNorm& bn,
                                    const at::Tensor& residual = {}) = 0;
  /// A convolution without bias: x (B, C, H, W), weight (O, C, k, k).
  virtual at::Tensor conv(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride, std::int64_t padding) = 0;
  /// Tokens in the memory layout that the pass works on best; in the reference as they are, since masks follow it.
  virtual at::Tensor arranged(const at::Tensor& tokens) = 0;
  /// Whether to leave out what cannot influence the result. The reference does it, as it draws random numbers.
  virtual bool leaves_out_dead_work() const = 0;
};

/// Begins a forward pass. `dropout`: the probability in training. The fast one draws one number from torch's generator
/// for all its masks, so a resumed run goes on with the same ones.
std::unique_ptr<Pass> make_pass(Kernels kernels, bool training, double dropout);

}  // namespace lerobot::policy
