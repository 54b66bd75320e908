#include "host/policy/transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "host/policy/init.h"

namespace lerobot::policy {
namespace {

// (S, B, D) -> (B * heads, S, D / heads)
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1) * heads, x.size(2) / heads}).transpose(0, 1);
}

// The first `length` tokens. All of them are x itself: a view would change the order in which autograd adds up, and so
// the last bits.
at::Tensor first_of(const at::Tensor& x, std::int64_t length) {
  return length == x.size(0) ? x : x.narrow(0, 0, length);
}

}  // namespace

Attention::Attention(std::int64_t width, std::int64_t n_heads)
    : in_proj_weight(at::empty({3 * width, width})),
      in_proj_bias(at::zeros({3 * width})),
      out_proj(width, width),
      heads(n_heads) {
  xavier_uniform(in_proj_weight);
  out_proj.bias.zero_();
}

void Attention::visit(TensorVisitor& visitor) {
  visitor.parameter("in_proj_weight", in_proj_weight);
  visitor.parameter("in_proj_bias", in_proj_bias);
  visitor.child("out_proj", out_proj);
}

Branch attention(const Attention& weights, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const Tokens& tokens, Pass& pass) {
  const std::int64_t width = query.size(2), heads = weights.heads;
  const auto [q, k, v] = pass.in_projection(weights, query, key, value);
  const at::Tensor query_heads = split_heads(tokens.queries.spread(q), heads);
  const at::Tensor key_heads = split_heads(tokens.keys.spread(k), heads);
  const at::Tensor mixed =
      at::bmm(pass.attention_weights(query_heads, key_heads, tokens.mask), split_heads(tokens.keys.spread(v), heads));
  const at::Tensor rows = tokens.queries.pack_matrix(mixed.transpose(0, 1).reshape({-1, width}), query.size(0));
  const Branch out = pass.product(weights.out_proj, rows);
  return {out.product.view(query.sizes()), out.bias};
}

Branch attention_of_equal_tokens(const Attention& weights, const at::Tensor& token, const at::Tensor& positions,
                                 std::int64_t batch, Pass& pass) {
  const std::int64_t length = positions.size(0), width = positions.size(2), heads = weights.heads;
  const at::Tensor query = token + positions;
  const auto [q, k, v] = pass.in_projection(weights, query, query, token);
  // All values are alike, so a row of weights acts by its sum alone: 1, but for dropout.
  const at::Tensor rows = pass.attention_weights(split_heads(q, heads).repeat({batch, 1, 1}),
                                                 split_heads(k, heads).repeat({batch, 1, 1}), {});
  const at::Tensor sums = rows.sum(-1).view({batch, heads, length, 1}).permute({2, 0, 1, 3});
  return pass.product(weights.out_proj, (sums * v.view({1, 1, heads, width / heads})).reshape({length, batch, width}));
}

at::Tensor padding_mask(const at::Tensor& is_padded, std::int64_t heads, at::ScalarType dtype) {
  const std::int64_t batch = is_padded.size(0), length = is_padded.size(1);
  const at::Tensor mask = at::zeros({batch, 1, 1, length}, is_padded.options().dtype(dtype));
  const at::Tensor filled =
      mask.masked_fill(is_padded.view({batch, 1, 1, length}), -std::numeric_limits<double>::infinity());
  return filled.expand({batch, heads, 1, length}).reshape({batch * heads, 1, length});
}

FeedForward::FeedForward(const TransformerShape& shape)
    : linear1(shape.width, shape.feedforward), linear2(shape.feedforward, shape.width), activation(shape.activation) {}

EncoderLayer::EncoderLayer(const TransformerShape& shape)
    : self_attn(shape.width, shape.heads),
      mlp(shape),
      norm1(shape.width),
      norm2(shape.width),
      pre_norm(shape.pre_norm) {}

void EncoderLayer::visit(TensorVisitor& visitor) {
  visitor.child("self_attn", self_attn);
  visitor.child("linear1", mlp.linear1);
  visitor.child("linear2", mlp.linear2);
  visitor.child("norm1", norm1);
  visitor.child("norm2", norm2);
}

at::Tensor EncoderLayer::operator()(const at::Tensor& x, const at::Tensor& positions, const Tokens& tokens,
                                    std::int64_t length, Pass& pass) const {
  const at::Tensor first = first_of(x, length);
  if (pre_norm) {
    const at::Tensor n = norm1(x), k = n + positions, q = first_of(k, length);
    const at::Tensor a = pass.add(first, attention(self_attn, q, k, n, tokens, pass));
    return pass.add(a, pass.feed_forward(mlp, norm2(a)));
  }
  const at::Tensor k = x + positions, q = first_of(k, length);
  const at::Tensor a = pass.add_norm(first, attention(self_attn, q, k, x, tokens, pass), norm1);
  return pass.add_norm(a, pass.feed_forward(mlp, a), norm2);
}

Encoder::Encoder(std::int64_t n_layers, const TransformerShape& shape) {
  layers.reserve(n_layers);
  for (std::int64_t i = 0; i < n_layers; ++i) layers.emplace_back(shape);
  if (shape.pre_norm) norm.emplace(shape.width);
}

void Encoder::visit(TensorVisitor& visitor) {
  visitor.children("layers", layers);
  visitor.child("norm", norm);
}

at::Tensor Encoder::operator()(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& mask,
                               Pass& pass) const {
  return first_tokens(x, positions, {.mask = mask}, x.size(0), pass);
}

at::Tensor Encoder::first_token(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& is_padded,
                                Pass& pass) const {
  const TokenRows rows(is_padded);
  const std::int64_t heads = layers.empty() ? 1 : layers.front().self_attn.heads;
  const Tokens tokens{.mask = padding_mask(is_padded, heads, x.scalar_type()), .queries = rows, .keys = rows};
  const std::int64_t first = rows.are_all() ? 1 : x.size(1);
  const at::Tensor tokens_of_first = first_tokens(rows.pack(x), rows.pack(positions), tokens, first, pass);
  return first_of(tokens_of_first, first).reshape({1, x.size(1), x.size(2)});
}

at::Tensor Encoder::first_tokens(at::Tensor x, const at::Tensor& positions, const Tokens& tokens, std::int64_t length,
                                 Pass& pass) const {
  for (const EncoderLayer& layer : layers)
    x = layer(x, positions, tokens, &layer == &layers.back() ? length : x.size(0), pass);
  return norm ? (*norm)(x) : x;
}

DecoderLayer::DecoderLayer(const TransformerShape& shape)
    : self_attn(shape.width, shape.heads),
      multihead_attn(shape.width, shape.heads),
      mlp(shape),
      norm1(shape.width),
      norm2(shape.width),
      norm3(shape.width),
      pre_norm(shape.pre_norm) {}

void DecoderLayer::visit(TensorVisitor& visitor) {
  visitor.child("self_attn", self_attn);
  visitor.child("multihead_attn", multihead_attn);
  visitor.child("linear1", mlp.linear1);
  visitor.child("linear2", mlp.linear2);
  visitor.child("norm1", norm1);
  visitor.child("norm2", norm2);
  visitor.child("norm3", norm3);
}

at::Tensor DecoderLayer::operator()(const at::Tensor& x, const at::Tensor& positions, const Memory& memory,
                                    const TokenRows& wanted, Pass& pass) const {
  const at::Tensor value = pre_norm ? norm1(x) : x, q = value + positions;
  return finish(x, attention(self_attn, q, q, value, {}, pass), positions, memory, wanted, pass);
}

at::Tensor DecoderLayer::from_zero(const at::Tensor& positions, const Memory& memory, const TokenRows& wanted,
                                   Pass& pass) const {
  const std::int64_t batch = memory.values.size(1);
  const at::Tensor zero = at::zeros({1, 1, positions.size(2)}, memory.values.options().requires_grad(false));
  const Branch self = attention_of_equal_tokens(self_attn, pre_norm ? norm1(zero) : zero, positions, batch, pass);
  return finish(zero.expand({positions.size(0), batch, -1}), self, positions, memory, wanted, pass);
}

at::Tensor DecoderLayer::finish(const at::Tensor& all, const Branch& all_self, const at::Tensor& all_positions,
                                const Memory& memory, const TokenRows& wanted, Pass& pass) const {
  const at::Tensor x = wanted.pack(all), positions = wanted.pack(all_positions);
  const Branch self{wanted.pack(all_self.product), all_self.bias};
  const Tokens tokens{.queries = wanted};
  const at::Tensor memory_key = memory.values + memory.positions;
  if (pre_norm) {
    const at::Tensor a = pass.add(x, self);
    const Branch cross = attention(multihead_attn, norm2(a) + positions, memory_key, memory.values, tokens, pass);
    const at::Tensor c = pass.add(a, cross);
    return pass.add(c, pass.feed_forward(mlp, norm3(c)));
  }
  const at::Tensor a = pass.add_norm(x, self, norm1);
  const at::Tensor c =
      pass.add_norm(a, attention(multihead_attn, a + positions, memory_key, memory.values, tokens, pass), norm2);
  return pass.add_norm(c, pass.feed_forward(mlp, c), norm3);
}

Decoder::Decoder(std::int64_t n_layers, const TransformerShape& shape) : norm(shape.width) {
  layers.reserve(n_layers);
  for (std::int64_t i = 0; i < n_layers; ++i) layers.emplace_back(shape);
}

void Decoder::visit(TensorVisitor& visitor) {
  visitor.children("layers", layers);
  visitor.child("norm", norm);
}

at::Tensor Decoder::operator()(at::Tensor x, const at::Tensor& positions, const Memory& memory, Pass& pass) const {
  for (const DecoderLayer& layer : layers) x = layer(x, positions, memory, {}, pass);
  return norm(x);
}

at::Tensor Decoder::from_zero(const at::Tensor& positions, const Memory& memory, const TokenRows& wanted,
                              Pass& pass) const {
  // All tokens but for the last layer, whose self-attention is the last that reads them.
  const auto of = [&](std::size_t i) { return i + 1 == layers.size() ? wanted : TokenRows(); };
  at::Tensor x = layers.front().from_zero(positions, memory, of(0), pass);
  for (std::size_t i = 1; i < layers.size(); ++i) x = layers[i](x, positions, memory, of(i), pass);
  return norm(x);
}

}  // namespace lerobot::policy
