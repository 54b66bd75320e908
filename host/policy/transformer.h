#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "host/policy/module.h"

// The transformer of ACT (as in DETR): sequence first, (length, B, D), positions added to queries and keys only. The
// order of the operations and the memory layout of what is dropped out are Python's, so that a seed gives the same
// masks.

namespace lerobot::policy {

enum class Activation { kRelu, kGelu };

struct TransformerShape {
  std::int64_t width = 512;  // D
  std::int64_t heads = 8;
  std::int64_t feedforward = 3200;
  Activation activation = Activation::kRelu;
  double dropout = 0.1;
  bool pre_norm = false;
};

/// How a forward pass differs from call to call.
struct Pass {
  bool training = false;
  double dropout = 0;  // 0 outside training
};

/// x with dropout in training.
at::Tensor drop(const at::Tensor& x, const Pass& pass);

/// Weights of multi-head attention, drawn as torch.nn.MultiheadAttention.
struct Attention {
  at::Tensor in_proj_weight;  // (3 D, D): queries, keys, values
  at::Tensor in_proj_bias;    // (3 D)
  Linear out_proj;
  std::int64_t heads;

  Attention(std::int64_t width, std::int64_t n_heads);
  void visit(TensorVisitor& visitor);
};

/// Multi-head attention by explicit softmax. query (L, B, D), key and value (S, B, D); mask: (B * heads, 1, S), added
/// to the scores, or undefined. Returns (L, B, D).
at::Tensor attention(const Attention& weights, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const at::Tensor& mask, const Pass& pass);

/// The additive mask of attention(): (B, S) bool, true where padded, to (B * heads, 1, S) of 0 and -inf.
at::Tensor padding_mask(const at::Tensor& is_padded, std::int64_t heads, at::ScalarType dtype);

struct FeedForward {
  Linear linear1, linear2;
  Activation activation;

  explicit FeedForward(const TransformerShape& shape);
};

/// linear2(drop(activation(linear1(x)))).
at::Tensor feed_forward(const FeedForward& weights, const at::Tensor& x, const Pass& pass);

/// norm(skip + drop(y)).
at::Tensor add_norm(const at::Tensor& skip, const at::Tensor& y, const LayerNorm& norm, const Pass& pass);

struct EncoderLayer {
  Attention self_attn;
  FeedForward mlp;
  LayerNorm norm1, norm2;
  bool pre_norm;

  explicit EncoderLayer(const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& mask,
                        const Pass& pass) const;
};

struct Encoder {
  std::vector<EncoderLayer> layers;
  std::optional<LayerNorm> norm;  // pre_norm only

  Encoder(std::int64_t n_layers, const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  /// x (S, B, D), positions (S, 1, D), mask as for attention(). Returns (S, B, D).
  at::Tensor operator()(at::Tensor x, const at::Tensor& positions, const at::Tensor& mask, const Pass& pass) const;
};

/// What the decoder reads: the encoder's output (S, B, D), and its positions (S, 1, D).
struct Memory {
  at::Tensor values, positions;
};

struct DecoderLayer {
  Attention self_attn, multihead_attn;
  FeedForward mlp;
  LayerNorm norm1, norm2, norm3;
  bool pre_norm;

  explicit DecoderLayer(const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions, const Memory& memory, const Pass& pass) const;
};

struct Decoder {
  std::vector<DecoderLayer> layers;
  LayerNorm norm;

  Decoder(std::int64_t n_layers, const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  /// x (L, B, D), positions (L, 1, D). Returns (L, B, D).
  at::Tensor operator()(at::Tensor x, const at::Tensor& positions, const Memory& memory, const Pass& pass) const;
};

}  // namespace lerobot::policy
