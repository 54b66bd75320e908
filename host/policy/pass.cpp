#include "host/policy/pass.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <mutex>

#include "host/fused/layers.h"
#include "host/fused/winograd.h"
#include "host/policy/module.h"
#include "host/policy/resnet.h"
#include "host/policy/transformer.h"

namespace lerobot::policy {
namespace {

double attention_scale(const at::Tensor& query) {
  return std::sqrt(1.0 / static_cast<double>(query.size(2)));
}

at::Tensor activate(Activation activation, const at::Tensor& hidden) {
  return activation == Activation::kRelu ? at::relu(hidden) : at::gelu(hidden);
}

at::Tensor conv2d(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride, std::int64_t padding) {
  return at::conv2d(x, weight, /*bias=*/{}, {stride, stride}, {padding, padding});
}

/// Python's operators in Python's order.
class ReferencePass final : public Pass {
 public:
  ReferencePass(bool training, double dropout) : training_(training), dropout_(dropout) {}

  at::Tensor drop(const at::Tensor& x) override { return training_ ? at::dropout(x, dropout_, /*train=*/true) : x; }

  at::Tensor attention_weights(const at::Tensor& query, const at::Tensor& key, const at::Tensor& mask) override {
    const at::Tensor scaled = query * attention_scale(query);
    const at::Tensor scores =
        mask.defined() ? at::baddbmm(mask, scaled, key.transpose(1, 2)) : at::bmm(scaled, key.transpose(1, 2));
    return drop(at::softmax(scores, -1));
  }

  std::array<at::Tensor, 3> in_projection(const Attention& weights, const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& value) override {
    const std::vector<at::Tensor> w = weights.in_proj_weight.chunk(3), b = weights.in_proj_bias.chunk(3);
    return {at::linear(query, w[0], b[0]), at::linear(key, w[1], b[1]), at::linear(value, w[2], b[2])};
  }

  Branch product(const Linear& linear, const at::Tensor& x) override { return {linear(x), {}}; }

  Branch feed_forward(const FeedForward& weights, const at::Tensor& x) override {
    return {weights.linear2(drop(activate(weights.activation, weights.linear1(x)))), {}};
  }

  at::Tensor add(const at::Tensor& skip, const Branch& branch) override { return skip + drop(branch.product); }

  at::Tensor add_norm(const at::Tensor& skip, const Branch& branch, const LayerNorm& norm) override {
    return norm(add(skip, branch));
  }

  at::Tensor frozen_bn_relu(const at::Tensor& x, const FrozenBatchNorm& bn, const at::Tensor& residual) override {
    at::Tensor y = frozen_bn(x, bn);
    if (residual.defined()) y.add_(residual);
    return y.relu_();
  }

  at::Tensor conv(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride, std::int64_t padding) override {
    return conv2d(x, weight, stride, padding);
  }

  at::Tensor arranged(const at::Tensor& tokens) override { return tokens; }
  bool leaves_out_dead_work() const override { return false; }

 private:
  bool training_;
  double dropout_;
};

std::uint64_t draw_key() {
  const at::Generator& generator = at::detail::getDefaultCPUGenerator();
  auto* cpu = at::check_generator<at::CPUGeneratorImpl>(generator);
  const std::lock_guard lock(cpu->mutex_);
  return cpu->random64();
}

class FastPass final : public Pass {
 public:
  explicit FastPass(double dropout) : dropout_(dropout), key_(dropout > 0 ? draw_key() : 0) {}

  at::Tensor drop(const at::Tensor& x) override { return fused::drop(x, next_dropout()); }

  at::Tensor attention_weights(const at::Tensor& query, const at::Tensor& key, const at::Tensor& mask) override {
    return fused::attention_weights(query, key, mask, attention_scale(query), next_dropout());
  }

  std::array<at::Tensor, 3> in_projection(const Attention& weights, const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& value) override {
    return fused::in_projection(query, key, value, weights.in_proj_weight, weights.in_proj_bias);
  }

  Branch product(const Linear& linear, const at::Tensor& x) override {
    return {at::linear(x, linear.weight), linear.bias};
  }

  Branch feed_forward(const FeedForward& weights, const at::Tensor& x) override {
    const Linear &first = weights.linear1, &second = weights.linear2;
    if (weights.activation == Activation::kRelu)
      return {fused::feed_forward(x, first.weight, first.bias, second.weight, next_dropout()), second.bias};
    return product(second, drop(activate(weights.activation, first(x))));
  }

  at::Tensor add(const at::Tensor& skip, const Branch& branch) override {
    return skip + drop(branch.product + branch.bias);
  }

  at::Tensor add_norm(const at::Tensor& skip, const Branch& branch, const LayerNorm& norm) override {
    return fused::add_norm(skip, branch.product, branch.bias, norm.weight, norm.bias, LayerNorm::kEps, next_dropout());
  }

  at::Tensor frozen_bn_relu(const at::Tensor& x, const FrozenBatchNorm& bn, const at::Tensor& residual) override {
    return fused::scale_relu(x, bn.scale, bn.shift, residual);
  }

  at::Tensor conv(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride, std::int64_t padding) override {
    // A direct convolution works along the pixels of a row and has nothing to do on the last stage's few; Winograd's
    // weights, 16/9 of the convolution's, pay from some 64 tiles of 4 pixels on.
    constexpr std::int64_t kFewPixels = 16, kManyPixels = 256;
    const std::int64_t pixels = x.size(2) * x.size(3) / (stride * stride);
    if (pixels <= kFewPixels) return fused::conv_by_product(x, weight, stride, padding);
    if (weight.size(2) == 3 && stride == 1 && padding == 1 && x.size(0) * pixels >= kManyPixels) {
      return fused::winograd_conv(x, weight);
    }
    return conv2d(x.contiguous(at::MemoryFormat::ChannelsLast), weight, stride, padding);
  }

  at::Tensor arranged(const at::Tensor& tokens) override { return tokens.contiguous(); }
  bool leaves_out_dead_work() const override { return true; }

 private:
  fused::Dropout next_dropout() { return kernels::make_dropout(key_, site_++, dropout_); }

  double dropout_;
  std::uint64_t key_;
  std::uint32_t site_ = 0;
};

}  // namespace

std::unique_ptr<Pass> make_pass(Kernels kernels, bool training, double dropout) {
  if (kernels == Kernels::kReference) return std::make_unique<ReferencePass>(training, training ? dropout : 0);
  return std::make_unique<FastPass>(training ? dropout : 0);
}

}  // namespace lerobot::policy
