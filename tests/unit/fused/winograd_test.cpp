// Winograd's convolution against torch's in float64, which both float32 results are to be near.

#include "host/fused/winograd.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace lerobot::fused {
namespace {

/// Value, and the gradients of the inputs, of torch's convolution in float64 or of ours.
std::vector<at::Tensor> results(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& incoming, bool ours) {
  const at::ScalarType type = ours ? at::kFloat : at::kDouble;
  const at::Tensor a = x.to(type).detach().requires_grad_(), b = weight.to(type).detach().requires_grad_();
  const at::Tensor y = ours ? winograd_conv(a, b) : at::conv2d(a, b, {}, {1, 1}, {1, 1});
  y.backward(incoming.to(type));
  return {y.detach(), a.grad(), b.grad()};
}

void expect_direct_sum(const at::Tensor& x, const at::Tensor& weight) {
  const at::Tensor incoming = at::randn({x.size(0), weight.size(0), x.size(2), x.size(3)});
  const std::vector<at::Tensor> found = results(x, weight, incoming, true), exact = results(x, weight, incoming, false);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].sizes(), exact[i].sizes());
    const double off = (found[i] - exact[i]).abs().max().item<double>();
    EXPECT_LT(off, 5e-6 * exact[i].abs().max().item<double>()) << x.sizes() << " result " << i;
  }
}

TEST(Winograd, IsTheDirectSumForAnySize) {
  for (const auto& [height, width] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {2, 2}, {3, 5}, {4, 7}, {9, 8}}) {
    for (const std::int64_t channels : {1, 5, 24}) {
      expect_direct_sum(at::randn({3, channels, height, width}), at::randn({7, channels, 3, 3}));
    }
  }
}

TEST(Winograd, IsTheDirectSumOverSeveralChunksOfTiles) {
  const at::Tensor x = at::randn({2, 64, 100, 70}).contiguous(at::MemoryFormat::ChannelsLast);  // 3500 tiles of 1024
  expect_direct_sum(x, at::randn({32, 64, 3, 3}));
}

TEST(Winograd, TakesAnyMemoryFormatAndGivesChannelsLast) {
  const at::Tensor x = at::randn({2, 8, 6, 10}), weight = at::randn({4, 8, 3, 3});
  const at::Tensor y = winograd_conv(x, weight);
  EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(y.equal(winograd_conv(x.contiguous(at::MemoryFormat::ChannelsLast), weight)));
}

TEST(Winograd, ComputesNoGradientThatNobodyWants) {
  const at::Tensor x = at::randn({1, 4, 6, 6}), weight = at::randn({4, 4, 3, 3}).requires_grad_();
  winograd_conv(x, weight).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(weight.grad().defined());
}

TEST(Winograd, DoesNotDependOnTheNumberOfThreadsInItsTransforms) {
  const at::Tensor x = at::randn({2, 16, 40, 40}), weight = at::randn({16, 16, 3, 3});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = winograd_conv(x, weight);
  at::set_num_threads(2);
  const at::Tensor two = winograd_conv(x, weight);
  at::set_num_threads(threads);
  EXPECT_TRUE(one.allclose(two, 1e-5, 1e-5));
}

}  // namespace
}  // namespace lerobot::fused
