// Autocast scopes: what runs in which precision, on which thread, and with which weights.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>

#include <thread>

#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

class Autocast : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (api_.autocast_query == nullptr) GTEST_SKIP() << "the plugin has no autocast";
    for (const std::uint32_t candidate : {LRA_PRECISION_BF16, LRA_PRECISION_FP16}) {
      if (query(candidate).support == LRA_SUPPORT_NONE) continue;
      precision_ = candidate;
      return;
    }
    GTEST_SKIP() << "the device has neither bf16 nor fp16";
  }

  lra_autocast_support query(std::uint32_t precision) {
    auto support = sized<lra_autocast_support>();
    expect_ok(api_.autocast_query(context_, 0, precision, &support, &error_));
    return support;
  }

  std::uint64_t enter(std::uint32_t precision) {
    auto args = sized<lra_autocast_args>();
    args.precision = precision;
    std::uint64_t token = 0;
    expect_ok(api_.autocast_enter(context_, &args, &token, &error_));
    EXPECT_NE(token, 0U);
    return token;
  }

  void exit(std::uint64_t token) { expect_ok(api_.autocast_exit(context_, token, &error_)); }

  at::ScalarType low() const { return precision_ == LRA_PRECISION_BF16 ? at::kBFloat16 : at::kHalf; }
  at::Tensor matrix() const { return on_device({1, 2, 3, 4}).reshape({2, 2}); }
  at::ScalarType product_type() const { return at::mm(matrix(), matrix()).scalar_type(); }

  std::uint32_t precision_ = LRA_PRECISION_FLOAT32;
};

TEST_F(Autocast, MakesMatrixProductsRunInThePrecision) {
  EXPECT_EQ(product_type(), at::kFloat);
  const std::uint64_t token = enter(precision_);
  EXPECT_EQ(product_type(), low());
  exit(token);
  EXPECT_EQ(product_type(), at::kFloat);
}

TEST_F(Autocast, LeavesTheSelftestRight) {
  const std::uint64_t token = enter(precision_);
  expect_ok(api_.selftest(context_, 0, &error_));
  exit(token);
}

TEST_F(Autocast, NestsAndTheInnerScopeRules) {
  const std::uint64_t outer = enter(precision_);
  const std::uint64_t inner = enter(LRA_PRECISION_FLOAT32);
  EXPECT_EQ(product_type(), at::kFloat);
  const std::uint64_t innermost = enter(precision_);
  EXPECT_EQ(product_type(), low());
  exit(innermost);
  EXPECT_EQ(product_type(), at::kFloat);
  exit(inner);
  EXPECT_EQ(product_type(), low());
  exit(outer);
  EXPECT_EQ(product_type(), at::kFloat);
}

TEST_F(Autocast, ScopesCloseInReverseOrderOnly) {
  const std::uint64_t outer = enter(precision_);
  const std::uint64_t inner = enter(precision_);
  expect_refused(api_.autocast_exit(context_, outer, &error_), LRA_WRONG_STATE);
  expect_refused(api_.autocast_exit(context_, 0, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(product_type(), low());
  exit(inner);
  expect_refused(api_.autocast_exit(context_, inner, &error_), LRA_WRONG_STATE);
  exit(outer);
  expect_refused(api_.autocast_exit(context_, outer, &error_), LRA_WRONG_STATE);
}

TEST_F(Autocast, SeesNewWeightsAfterTheOutermostScope) {
  // torch caches the casts of leaves that need gradients and are no views.
  at::Tensor weight = matrix().clone().set_requires_grad(true);
  const at::Tensor input = matrix();
  const std::uint64_t outer = enter(precision_);
  const std::uint64_t inner = enter(precision_);
  const auto before = values(at::mm(input, weight).detach());
  exit(inner);
  exit(outer);
  {
    const at::NoGradGuard no_grad;
    weight.mul_(2);
  }
  const std::uint64_t token = enter(precision_);
  const auto after = values(at::mm(input, weight).detach());
  exit(token);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i], 2 * before[i]);
}

TEST_F(Autocast, BelongsToItsThread) {
  const std::uint64_t token = enter(precision_);
  at::ScalarType seen = at::kByte;
  lra_status exit_status = LRA_OK;
  std::thread other([&] {
    seen = product_type();
    exit_status = api_.autocast_exit(context_, token, nullptr);
  });
  other.join();
  EXPECT_EQ(seen, at::kFloat);
  EXPECT_EQ(exit_status, LRA_WRONG_STATE);
  EXPECT_EQ(product_type(), low());
  exit(token);
}

TEST_F(Autocast, KeepsThePluginFromShuttingDown) {
  const std::uint64_t token = enter(precision_);
  expect_refused(api_.shutdown(context_, &error_), LRA_WRONG_STATE);
  exit(token);
}

TEST_F(Autocast, OfAThreadThatEndedIsForgotten) {
  std::thread([&] { enter(precision_); }).join();
  expect_ok(api_.shutdown(context_, &error_));
  context_ = nullptr;
}

TEST_F(Autocast, IsRefusedWithTheReasonWhereThereIsNone) {
  for (const std::uint32_t precision : {LRA_PRECISION_BF16, LRA_PRECISION_FP16}) {
    const lra_autocast_support support = query(precision);
    if (support.support != LRA_SUPPORT_NATIVE) {
      EXPECT_STRNE(support.reason, "");
    }
    if (support.support != LRA_SUPPORT_NONE) continue;
    auto args = sized<lra_autocast_args>();
    args.precision = precision;
    std::uint64_t token = 42;
    const lra_status status = api_.autocast_enter(context_, &args, &token, &error_);
    EXPECT_STREQ(error_.message, support.reason);
    expect_refused(status, LRA_UNSUPPORTED);
    EXPECT_EQ(token, 42U);
    EXPECT_EQ(product_type(), at::kFloat);
  }
}

TEST_F(Autocast, RefusesWhatDoesNotExist) {
  auto support = sized<lra_autocast_support>();
  expect_refused(api_.autocast_query(context_, 0, 9, &support, &error_), LRA_INVALID_ARGUMENT);
  expect_refused(api_.autocast_query(context_, 1000, precision_, &support, &error_), LRA_INVALID_ARGUMENT);
  expect_refused(api_.autocast_query(context_, 0, precision_, nullptr, &error_), LRA_INVALID_ARGUMENT);
  auto args = sized<lra_autocast_args>();
  std::uint64_t token = 42;
  args.precision = 9;
  expect_refused(api_.autocast_enter(context_, &args, &token, &error_), LRA_INVALID_ARGUMENT);
  args.precision = precision_;
  expect_refused(api_.autocast_enter(context_, &args, nullptr, &error_), LRA_INVALID_ARGUMENT);
  const Longer<lra_autocast_args> unknown(args, 1);
  expect_refused(api_.autocast_enter(context_, &unknown.value, &token, &error_), LRA_UNSUPPORTED);
  EXPECT_EQ(token, 42U);
  EXPECT_EQ(product_type(), at::kFloat);
}

}  // namespace
}  // namespace lerobot::conformance
