#include "host/policy/transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
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

}  // namespace

at::Tensor drop(const at::Tensor& x, const Pass& pass) {
  return pass.training ? at::dropout(x, pass.dropout, /*train=*/true) : x;
}

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

at::Tensor attention(const Attention& weights, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const at::Tensor& mask, const Pass& pass) {
  const std::int64_t length = query.size(0), batch = query.size(1), width = query.size(2);
  const std::vector<at::Tensor> w = weights.in_proj_weight.chunk(3), b = weights.in_proj_bias.chunk(3);
  const at::Tensor q = split_heads(at::linear(query, w[0], b[0]), weights.heads);
  const at::Tensor k = split_heads(at::linear(key, w[1], b[1]), weights.heads);
  const at::Tensor v = split_heads(at::linear(value, w[2], b[2]), weights.heads);
  const at::Tensor scaled = q * std::sqrt(1.0 / static_cast<double>(width / weights.heads));
  const at::Tensor scores =
      mask.defined() ? at::baddbmm(mask, scaled, k.transpose(1, 2)) : at::bmm(scaled, k.transpose(1, 2));
  const at::Tensor mixed = at::bmm(drop(at::softmax(scores, -1), pass), v);
  return weights.out_proj(mixed.transpose(0, 1).reshape({length * batch, width})).view({length, batch, width});
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

at::Tensor feed_forward(const FeedForward& weights, const at::Tensor& x, const Pass& pass) {
  const at::Tensor hidden = weights.linear1(x);
  const at::Tensor active = weights.activation == Activation::kRelu ? at::relu(hidden) : at::gelu(hidden);
  return weights.linear2(drop(active, pass));
}

at::Tensor add_norm(const at::Tensor& skip, const at::Tensor& y, const LayerNorm& norm, const Pass& pass) {
  return norm(skip + drop(y, pass));
}

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

at::Tensor EncoderLayer::operator()(const at::Tensor& x, const at::Tensor& positions, const at::Tensor& mask,
                                    const Pass& pass) const {
  if (pre_norm) {
    const at::Tensor n = norm1(x), q = n + positions;
    const at::Tensor a = x + drop(attention(self_attn, q, q, n, mask, pass), pass);
    return a + drop(feed_forward(mlp, norm2(a), pass), pass);
  }
  const at::Tensor q = x + positions;
  const at::Tensor a = add_norm(x, attention(self_attn, q, q, x, mask, pass), norm1, pass);
  return add_norm(a, feed_forward(mlp, a, pass), norm2, pass);
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

at::Tensor Encoder::operator()(at::Tensor x, const at::Tensor& positions, const at::Tensor& mask,
                               const Pass& pass) const {
  for (const EncoderLayer& layer : layers) x = layer(x, positions, mask, pass);
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
                                    const Pass& pass) const {
  const at::Tensor memory_key = memory.values + memory.positions;
  if (pre_norm) {
    const at::Tensor n = norm1(x), q = n + positions;
    const at::Tensor a = x + drop(attention(self_attn, q, q, n, {}, pass), pass);
    const at::Tensor cross = attention(multihead_attn, norm2(a) + positions, memory_key, memory.values, {}, pass);
    const at::Tensor c = a + drop(cross, pass);
    return c + drop(feed_forward(mlp, norm3(c), pass), pass);
  }
  const at::Tensor q = x + positions;
  const at::Tensor a = add_norm(x, attention(self_attn, q, q, x, {}, pass), norm1, pass);
  const at::Tensor cross = attention(multihead_attn, a + positions, memory_key, memory.values, {}, pass);
  const at::Tensor c = add_norm(a, cross, norm2, pass);
  return add_norm(c, feed_forward(mlp, c, pass), norm3, pass);
}

Decoder::Decoder(std::int64_t n_layers, const TransformerShape& shape) : norm(shape.width) {
  layers.reserve(n_layers);
  for (std::int64_t i = 0; i < n_layers; ++i) layers.emplace_back(shape);
}

void Decoder::visit(TensorVisitor& visitor) {
  visitor.children("layers", layers);
  visitor.child("norm", norm);
}

at::Tensor Decoder::operator()(at::Tensor x, const at::Tensor& positions, const Memory& memory,
                               const Pass& pass) const {
  for (const DecoderLayer& layer : layers) x = layer(x, positions, memory, pass);
  return norm(x);
}

}  // namespace lerobot::policy
