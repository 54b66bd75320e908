// Each fused step against torch's operators for the same thing, values and gradients, with the same masks.

#include "host/fused/layers.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace lerobot::fused {
namespace {

using Inputs = std::vector<at::Tensor>;
using Step = std::function<at::Tensor(const Inputs&)>;

/// The factors of a dropout as a tensor: what it makes of ones.
at::Tensor factors(at::IntArrayRef shape, const Dropout& dropout) {
  return drop(at::ones(shape), dropout);
}

/// Value and gradients of both for the same inputs and the same incoming gradient.
void expect_same(const Step& found, const Step& expected, const Inputs& inputs) {
  std::vector<Inputs> gradients;
  std::vector<at::Tensor> values;
  at::Tensor incoming;
  for (const Step* step : {&expected, &found}) {
    Inputs leaves;
    for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_());
    const at::Tensor value = (*step)(leaves);
    if (!incoming.defined()) incoming = at::randn_like(value);
    value.backward(incoming);
    values.push_back(value.detach());
    Inputs& all = gradients.emplace_back();
    for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
  }
  EXPECT_TRUE(values[1].allclose(values[0], 1e-4, 1e-5)) << (values[1] - values[0]).abs().max().item<float>();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(gradients[1][i].sizes(), gradients[0][i].sizes()) << "input " << i;
    const float off = (gradients[1][i] - gradients[0][i]).abs().max().item<float>();
    EXPECT_LT(off, 1e-4F * (1 + gradients[0][i].abs().max().item<float>())) << "input " << i;
  }
}

const Dropout kDropout = kernels::make_dropout(11, 5, 0.25);

TEST(Fused, DropIsAProductWithItsFactors) {
  const at::Tensor x = at::randn({3, 4, 50}).transpose(0, 1);
  expect_same([](const Inputs& in) { return drop(in[0], kDropout); },
              [](const Inputs& in) {
                return in[0] * factors({4, 3, 50}, kDropout);
              },
              {x});
}

TEST(Fused, FeedForwardIsTorchs) {
  for (const Dropout& dropout : {kDropout, Dropout{}}) {
    expect_same([&](const Inputs& in) { return feed_forward(in[0], in[1], in[2], in[3], dropout); },
                [&](const Inputs& in) {
                  const at::Tensor hidden = at::relu(at::linear(in[0], in[1], in[2]));
                  return at::linear(hidden * factors({35, 40}, dropout).view({5, 7, 40}), in[3]);
                },
                {at::randn({5, 7, 16}), at::randn({40, 16}), at::randn({40}), at::randn({16, 40})});
  }
}

TEST(Fused, AddNormIsTorchs) {
  const Inputs inputs{at::randn({5, 7, 48}), at::randn({5, 7, 48}), at::randn({48}), at::randn({48}), at::randn({48})};
  for (const Dropout& dropout : {kDropout, Dropout{}}) {
    const at::Tensor mask = factors({35, 48}, dropout).view({5, 7, 48});
    expect_same(
        [&](const Inputs& in) { return add_norm(in[0], in[1], in[2], in[3], in[4], 1e-5, dropout); },
        [&](const Inputs& in) { return at::layer_norm(in[0] + (in[1] + in[2]) * mask, {48}, in[3], in[4], 1e-5); },
        inputs);
  }
  const Inputs without{inputs[0].transpose(0, 1), inputs[1].transpose(0, 1), inputs[3], inputs[4]};
  expect_same([&](const Inputs& in) { return add_norm(in[0], in[1], {}, in[2], in[3], 1e-5, {}); },
              [&](const Inputs& in) { return at::layer_norm(in[0] + in[1], {48}, in[2], in[3], 1e-5); }, without);
}

TEST(Fused, InProjectionIsThreeOfTorchs) {
  const Inputs weights{at::randn({48, 16}), at::randn({48})};
  const auto three = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Inputs& in) {
    const auto w = in[in.size() - 2].chunk(3), b = in.back().chunk(3);
    return at::cat({at::linear(q, w[0], b[0]), at::linear(k, w[1], b[1]), at::linear(v, w[2], b[2])});
  };
  const auto found = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Inputs& in) {
    const auto all = in_projection(q, k, v, in[in.size() - 2], in.back());
    return at::cat({all[0], all[1], all[2]});
  };
  expect_same([&](const Inputs& in) { return found(in[0], in[1], in[2], in); },
              [&](const Inputs& in) { return three(in[0], in[1], in[2], in); },
              {at::randn({4, 3, 16}), at::randn({6, 3, 16}).transpose(0, 1).reshape({6, 3, 16}), at::randn({6, 3, 16}),
               weights[0], weights[1]});
  expect_same([&](const Inputs& in) { return found(in[0], in[0], in[1], in); },
              [&](const Inputs& in) { return three(in[0], in[0], in[1], in); },
              {at::randn({3, 6, 16}).transpose(0, 1), at::randn({6, 3, 16}), weights[0], weights[1]});
  const at::Tensor fixed = at::randn({2, 1, 16});
  expect_same([&](const Inputs& in) { return found(in[0], in[0], fixed, in); },
              [&](const Inputs& in) { return three(in[0], in[0], fixed, in); },
              {at::randn({2, 1, 16}), weights[0], weights[1]});
}

TEST(Fused, ConvolutionByProductIsTorchs) {
  for (const auto& [kernel, stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 1}, {3, 2}, {1, 2}}) {
    const std::int64_t padding = kernel / 2;
    for (const at::MemoryFormat format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      expect_same([&](const Inputs& in) { return conv_by_product(in[0], in[1], stride, padding); },
                  [&](const Inputs& in) {
                    return at::conv2d(in[0], in[1], {}, {stride, stride}, {padding, padding});
                  },
                  {at::randn({2, 5, 4, 7}).contiguous(format), at::randn({6, 5, kernel, kernel})});
    }
  }
}

TEST(Fused, AttentionWeightsAreTorchs) {
  for (const Dropout& dropout : {kDropout, Dropout{}}) {
    for (const bool masked : {true, false}) {
      at::Tensor mask;
      if (masked) {
        mask = at::zeros({6, 1, 9});
        mask.narrow(2, 7, 2).fill_(-std::numeric_limits<float>::infinity());
      }
      expect_same([&](const Inputs& in) { return attention_weights(in[0], in[1], mask, 0.5, dropout); },
                  [&](const Inputs& in) {
                    at::Tensor scores = at::bmm(in[0], in[1].transpose(1, 2)) * 0.5;
                    if (masked) scores = scores + mask;
                    return at::softmax(scores, -1) * factors({30, 9}, dropout).view({6, 5, 9});
                  },
                  {at::randn({5, 6, 8}).transpose(0, 1), at::randn({9, 6, 8}).transpose(0, 1)});
    }
  }
}

TEST(Fused, ScaleReluIsTorchsAndKeepsTheMemoryFormat) {
  const at::Tensor scale = at::randn({4, 1, 1}), shift = at::randn({4, 1, 1});
  for (const at::MemoryFormat format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const at::Tensor x = at::randn({2, 4, 5, 6}).contiguous(format), residual = at::randn({2, 4, 5, 6});
    EXPECT_EQ(scale_relu(x, scale, shift, {}).suggest_memory_format(), format);
    expect_same([&](const Inputs& in) { return scale_relu(in[0], scale, shift, {}); },
                [&](const Inputs& in) { return at::relu(in[0] * scale + shift); }, {x});
    expect_same([&](const Inputs& in) { return scale_relu(in[0], scale, shift, in[1]); },
                [&](const Inputs& in) { return at::relu(in[0] * scale + shift + in[1]); }, {x, residual});
  }
}

TEST(Fused, AnyNumberOfThreadsGivesTheSameMasksAndSums) {
  const int before = at::get_num_threads();
  const at::Tensor x = at::randn({301, 512}), skip = at::randn({301, 512}), bias = at::randn({512});
  std::vector<Inputs> results;
  for (const int threads : {1, 2, 5}) {
    at::set_num_threads(threads);
    const at::Tensor leaf = bias.detach().requires_grad_();
    const at::Tensor y = add_norm(skip, x, leaf, at::ones({512}), bias, 1e-5, kDropout);
    y.sin().sum().backward();
    results.push_back({y.detach(), leaf.grad(), drop(x, kDropout)});
  }
  at::set_num_threads(before);
  for (std::size_t i = 1; i < results.size(); ++i) {
    for (std::size_t j = 0; j < results[i].size(); ++j)
      EXPECT_TRUE(results[i][j].equal(results[0][j])) << i << " " << j;
  }
}

}  // namespace
}  // namespace lerobot::fused
