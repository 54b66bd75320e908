#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "host/policy/module.h"
#include "host/policy/pass.h"
#include "host/policy/token_rows.h"

// The transformer of ACT (as in DETR): sequence first, (length, B, D), positions added to queries and keys only. The
// order of the operations is Python's, so that in the reference pass a seed gives the same masks.

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

/// Weights of multi-head attention, drawn as torch.nn.MultiheadAttention.
struct Attention {
  at::Tensor in_proj_weight;  // (3 D, D): queries, keys, values
  at::Tensor in_proj_bias;    // (3 D)
  Linear out_proj;
  std::int64_t heads;

  Attention(std::int64_t width, std::int64_t n_heads);
  void visit(TensorVisitor& visitor);
};

/// How the tokens lie that attention() gets, and which of them count.
struct Tokens {
  at::Tensor mask = {};  ///< (B * heads, 1, S), added to the scores, or undefined
  TokenRows queries = {}, keys = {};
};

/// Multi-head attention by explicit softmax. query (L, B, D), key and value (S, B, D), or the rows of these that
/// `tokens` has. Returns what query is like.
Branch attention(const Attention& weights, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const Tokens& tokens, Pass& pass);

/// attention(query, query, value, {}) for tokens that are all alike: token (1, 1, D), query = token + positions with
/// positions (L, 1, D). The values are one row, and the scores are the same for each of `batch` items, so that only
/// dropout tells them apart. Returns (L, batch, D).
Branch attention_of_equal_tokens(const Attention& weights, const at::Tensor& token, const at::Tensor& positions,
                                 std::int64_t batch, Pass& pass);

/// The additive mask of attention(): (B, S) bool, true where padded, to (B * heads, 1, S) of 0 and -inf.
at::Tensor padding_mask(const at::Tensor& is_padded, std::int64_t heads, at::ScalarType dtype);

struct FeedForward {
  Linear linear1, linear2;
  Activation activation;

  explicit FeedForward(const TransformerShape& shape);
};

struct EncoderLayer {
  Attention self_attn;
  FeedForward mlp;
  LayerNorm norm1, norm2;
  bool pre_norm;

  explicit EncoderLayer(const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  /// x (S, B, D), or (T, 1, D) as `tokens` has it. Returns the first `length` of S or of T: the others have been read
  /// by them, but nothing else is computed for them.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions, const Tokens& tokens, std::int64_t length,
                        Pass& pass) const;
};

struct Encoder {
  std::vector<EncoderLayer> layers;
  std::optional<LayerNorm> norm;  // pre_norm only

  Encoder(std::int64_t n_layers, const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  /// x (S, B, D), positions (S, 1, D), mask as for attention(). Returns (S, B, D).
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& mask, Pass& pass) const;
  /// The first token of that, (1, B, D), which never is padding. Left out is what cannot influence it: padding
  /// (is_padded (B, S), bool), which nobody reads, and in the last layer all that only the other tokens would need.
  at::Tensor first_token(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& is_padded,
                         Pass& pass) const;

 private:
  /// The first `length` tokens, or rows.
  at::Tensor first_tokens(at::Tensor x, const at::Tensor& positions, const Tokens& tokens, std::int64_t length,
                          Pass& pass) const;
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
  /// x (L, B, D), positions (L, 1, D). Returns (L, B, D), or the rows of it that are wanted.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions, const Memory& memory, const TokenRows& wanted,
                        Pass& pass) const;
  /// The same for x = 0, without the work that does not depend on x: see attention_of_equal_tokens.
  at::Tensor from_zero(const at::Tensor& positions, const Memory& memory, const TokenRows& wanted, Pass& pass) const;

 private:
  /// What follows the self-attention, for the tokens that are wanted: from there on none reads another.
  at::Tensor finish(const at::Tensor& x, const Branch& self, const at::Tensor& positions, const Memory& memory,
                    const TokenRows& wanted, Pass& pass) const;
};

struct Decoder {
  std::vector<DecoderLayer> layers;
  LayerNorm norm;

  Decoder(std::int64_t n_layers, const TransformerShape& shape);
  void visit(TensorVisitor& visitor);
  /// x (L, B, D), positions (L, 1, D). Returns (L, B, D).
  at::Tensor operator()(at::Tensor x, const at::Tensor& positions, const Memory& memory, Pass& pass) const;
  /// The wanted tokens of that for x = 0.
  at::Tensor from_zero(const at::Tensor& positions, const Memory& memory, const TokenRows& wanted, Pass& pass) const;
};

}  // namespace lerobot::policy
