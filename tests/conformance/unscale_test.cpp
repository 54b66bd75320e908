// scaler_unscale: gradients times inv_scale, and the overflow flag.
#include <ATen/ops/full.h>

#include <limits>

#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Unscale : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (api_.scaler_unscale == nullptr) GTEST_SKIP() << "the plugin leaves unscaling to the host";
    found_inf_ = on_device({0});
    inv_scale_ = on_device({0.5});
  }

  lra_status unscale(const std::vector<lra_tensor_view>& gradients) {
    const lra_tensor_view found_inf = view(found_inf_);
    const lra_tensor_view inv_scale = view(inv_scale_);
    lra_unscale_args args = arguments(gradients, found_inf, inv_scale);
    return api_.scaler_unscale(context_, &args, &error_);
  }

  static lra_unscale_args arguments(const std::vector<lra_tensor_view>& gradients, const lra_tensor_view& found_inf,
                                    const lra_tensor_view& inv_scale) {
    auto args = sized<lra_unscale_args>();
    args.gradients = gradients.data();
    args.gradient_count = gradients.size();
    args.found_inf = &found_inf;
    args.inv_scale = &inv_scale;
    return args;
  }

  /// Whether unscaling these gradients, which must succeed, raises the flag.
  bool overflows(const std::vector<float>& gradient) {
    found_inf_ = on_device({0});
    expect_ok(unscale({view(on_device(gradient))}));
    return values(found_inf_).at(0) == 1;
  }

  at::Tensor found_inf_;
  at::Tensor inv_scale_;
};

TEST_F(Unscale, MultipliesInPlace) {
  const at::Tensor first = on_device({2, 4, 6});
  const at::Tensor second = on_device({-8});
  expect_ok(unscale({view(first), view(second)}));
  EXPECT_EQ(values(first), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(values(second), (std::vector<float>{-4}));
  EXPECT_EQ(values(found_inf_), (std::vector<float>{0}));
}

TEST_F(Unscale, FlagsAnInfinityInTheLastElement) {
  EXPECT_TRUE(overflows({1, 2, kInf}));
}
TEST_F(Unscale, FlagsANegativeInfinity) {
  EXPECT_TRUE(overflows({-kInf, 2, 3}));
}
TEST_F(Unscale, FlagsANan) {
  EXPECT_TRUE(overflows({1, kNan, 3}));
}
TEST_F(Unscale, DoesNotFlagLargeFiniteValues) {
  EXPECT_FALSE(overflows({std::numeric_limits<float>::max(), 2, 3}));
}

TEST_F(Unscale, FlagsAnOverflowInAnyGradient) {
  const at::Tensor first = on_device({2});
  const at::Tensor second = on_device({kInf});
  const at::Tensor third = on_device({4});
  expect_ok(unscale({view(first), view(second), view(third)}));
  EXPECT_EQ(values(found_inf_), (std::vector<float>{1}));
  EXPECT_EQ(values(third), (std::vector<float>{2}));
}

TEST_F(Unscale, KeepsAFlagThatWasRaisedBefore) {
  found_inf_ = on_device({1});
  expect_ok(unscale({view(on_device({2}))}));
  EXPECT_EQ(values(found_inf_), (std::vector<float>{1}));
}

TEST_F(Unscale, TakesGradientsOfSeveralTypes) {
  const at::Tensor single = on_device({2}, at::kFloat);
  const at::Tensor bf16 = on_device({4}, at::kBFloat16);
  const at::Tensor half = on_device({6}, at::kHalf);
  const at::Tensor last = on_device({8}, at::kFloat);
  expect_ok(unscale({view(single), view(bf16), view(half), view(last)}));
  EXPECT_EQ(values(single).at(0), 1);
  EXPECT_EQ(values(bf16).at(0), 2);
  EXPECT_EQ(values(half).at(0), 3);
  EXPECT_EQ(values(last).at(0), 4);
}

TEST_F(Unscale, FollowsStridesAndOffsets) {
  const at::Tensor whole = on_device({0, 2, 4, 6, 8, 10, 12, 14});
  const at::Tensor part = whole.slice(0, 2, 8).reshape({2, 3}).t();
  expect_ok(unscale({view(part)}));
  EXPECT_EQ(values(whole), (std::vector<float>{0, 2, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Unscale, TakesASingleCellAndAnEmptyGradient) {
  const at::Tensor cell = on_device({2}).reshape({});
  const at::Tensor empty = on_device({});
  expect_ok(unscale({view(cell), view(empty)}));
  EXPECT_EQ(values(cell), (std::vector<float>{1}));
  expect_ok(unscale({}));
}

TEST_F(Unscale, StepsOverElementsOfALaterVersion) {
  const at::Tensor first = on_device({2});
  const at::Tensor second = on_device({4});
  const Longer<lra_tensor_view> longer[2] = {Longer(view(first)), Longer(view(second))};
  const lra_tensor_view found_inf = view(found_inf_);
  const lra_tensor_view inv_scale = view(inv_scale_);
  auto args = arguments({}, found_inf, inv_scale);
  args.gradients = &longer[0].value;
  args.gradient_count = 2;
  expect_ok(api_.scaler_unscale(context_, &args, &error_));
  EXPECT_EQ(values(first).at(0), 1);
  EXPECT_EQ(values(second).at(0), 2);
}

/// Each way in which a view can be wrong, behind a good one that must not be touched.
TEST_F(Unscale, ChangesNothingWhenAViewIsWrong) {
  const at::Tensor good = on_device({2});
  const at::Tensor other = on_device({4});
  const std::vector<std::pair<const char*, void (*)(lra_tensor_view&)>> faults = {
      {"dtype", [](lra_tensor_view& v) { v.dtype_code = LRA_DTYPE_INT; }},
      {"lanes", [](lra_tensor_view& v) { v.dtype_lanes = 4; }},
      {"device type", [](lra_tensor_view& v) { v.torch_type += 1; }},
      {"device index", [](lra_tensor_view& v) { v.torch_index += 1; }},
      {"dimensions", [](lra_tensor_view& v) { v.ndim = LRA_MAX_DIMS + 1; }},
      {"negative size", [](lra_tensor_view& v) { v.shape[0] = -1; }},
      {"negative stride", [](lra_tensor_view& v) { v.strides[0] = -1; }},
      {"base", [](lra_tensor_view& v) { v.base = nullptr; }},
      {"offset", [](lra_tensor_view& v) { v.byte_offset = 3; }},
      {"size", [](lra_tensor_view& v) { v.struct_size = 4; }},
  };
  for (const auto& [name, spoil] : faults) {
    SCOPED_TRACE(name);
    lra_tensor_view bad = view(other);
    spoil(bad);
    if (bad.struct_size == sizeof(bad)) expect_refused(unscale({view(good), bad}), LRA_INVALID_ARGUMENT);
    if (bad.struct_size != sizeof(bad)) expect_refused(unscale({bad}), LRA_INVALID_ARGUMENT);
    EXPECT_EQ(values(good).at(0), 2);
    EXPECT_EQ(values(other).at(0), 4);
  }
}

TEST_F(Unscale, RefusesAReservedStreamAndUnknownFields) {
  const at::Tensor gradient = on_device({2});
  const std::vector<lra_tensor_view> gradients = {view(gradient)};
  const lra_tensor_view found_inf = view(found_inf_);
  const lra_tensor_view inv_scale = view(inv_scale_);
  lra_unscale_args args = arguments(gradients, found_inf, inv_scale);
  const Longer<lra_unscale_args> unknown(args, 1);
  expect_refused(api_.scaler_unscale(context_, &unknown.value, &error_), LRA_UNSUPPORTED);
  args.stream = 1;
  expect_refused(api_.scaler_unscale(context_, &args, &error_), LRA_UNSUPPORTED);
  args.stream = 0;
  args.found_inf = nullptr;
  expect_refused(api_.scaler_unscale(context_, &args, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(values(gradient).at(0), 2);
}

TEST_F(Unscale, TurnsTorchsExceptionsIntoErrors) {
  // Elements that share one cell: torch throws on writing to them.
  const at::Tensor shared = on_device({2}).expand({3});
  const lra_status status = unscale({view(shared)});
  expect_refused(status, LRA_INTERNAL);
}

}  // namespace
}  // namespace lerobot::conformance
