// The scaler's operations where torch's fused kernels are those of MPS: the same results as with whole ones.
#include "sdk/torch/scaler.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <limits>

#include "sdk/failure.h"

namespace lerobot::sdk {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Puts kernels in place of the CPU's, for its lifetime: all that any released torch does on MPS.
class MpsKernels {
 public:
  MpsKernels() : library_(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__) {
    library_.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
    library_.impl("_amp_update_scale_", update);
  }

 private:
  static void unscale(at::TensorList gradients, at::Tensor& found_inf, const at::Tensor& inv_scale) {
    found_inf.fill_(0);
    for (at::Tensor gradient : gradients) {
      if (!at::isfinite(gradient).all().item<bool>()) found_inf.fill_(1);
      // The cell's first bytes as a number of the gradient's type.
      gradient.mul_(inv_scale.view(gradient.scalar_type()).select(0, 0));
    }
  }
  static at::Tensor& update(at::Tensor& scale, at::Tensor& tracker, const at::Tensor& found_inf, double growth,
                            double backoff, std::int64_t interval) {
    const bool overflow = found_inf.item<float>() != 0;
    const std::int32_t good = tracker.item<std::int32_t>() + 1;
    if (overflow || good >= interval) scale.mul_(static_cast<float>(overflow ? backoff : growth));
    tracker.fill_(overflow || good >= interval ? 0 : good);
    return scale;
  }

  torch::Library library_;
};

lra_tensor_view view_of(const at::Tensor& tensor) {
  lra_tensor_view view{};
  view.struct_size = sizeof view;
  view.torch_index = -1;
  view.dtype_code = tensor.scalar_type() == at::kBFloat16 ? LRA_DTYPE_BFLOAT
                    : tensor.scalar_type() == at::kInt    ? LRA_DTYPE_INT
                                                          : LRA_DTYPE_FLOAT;
  view.dtype_bits = static_cast<std::uint8_t>(tensor.element_size() * 8);
  view.dtype_lanes = 1;
  view.ndim = 1;
  view.base = tensor.data_ptr();
  view.shape[0] = tensor.numel();
  view.strides[0] = 1;
  return view;
}

/// unscale_gradients on the CPU, found_inf being `raised` before. Returns found_inf.
float unscale(const std::vector<at::Tensor>& gradients, float inv_scale, ScalerKernels kernels, float raised = 0) {
  const at::Tensor found = at::full({1}, raised);
  const at::Tensor inverse = at::full({1}, inv_scale);
  std::vector<lra_tensor_view> views;
  for (const at::Tensor& gradient : gradients) views.push_back(view_of(gradient));
  const lra_tensor_view found_view = view_of(found);
  const lra_tensor_view inverse_view = view_of(inverse);
  lra_unscale_args args{};
  args.struct_size = sizeof args;
  args.gradients = views.data();
  args.gradient_count = views.size();
  args.found_inf = &found_view;
  args.inv_scale = &inverse_view;
  unscale_gradients(c10::kCPU, args, kernels);
  return found.item<float>();
}

struct ScaleState {
  float scale;
  std::int32_t tracker;
};

ScaleState update(ScaleState state, bool overflow, std::uint32_t interval, ScalerKernels kernels) {
  const at::Tensor scale = at::full({1}, state.scale);
  const at::Tensor tracker = at::full({1}, state.tracker, at::kInt);
  const at::Tensor found = at::full({1}, overflow ? 1.0 : 0.0);
  const lra_tensor_view scale_view = view_of(scale);
  const lra_tensor_view tracker_view = view_of(tracker);
  const lra_tensor_view found_view = view_of(found);
  lra_scaler_update_args args{};
  args.struct_size = sizeof args;
  args.scale = &scale_view;
  args.growth_tracker = &tracker_view;
  args.found_inf = &found_view;
  args.growth_factor = 2;
  args.backoff_factor = 0.5;
  args.growth_interval = interval;
  update_scale(c10::kCPU, args, kernels);
  return {scale.item<float>(), tracker.item<std::int32_t>()};
}

TEST(ScalerOnMps, UnscalesEveryTypeByTheSameNumber) {
  const MpsKernels mps;
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const at::Tensor gradient = at::full({3}, 3072.0, type);
    EXPECT_EQ(unscale({gradient}, 0x1p-14F / 3, ScalerKernels::kPartial), 0);  // float16 has no such number
    EXPECT_TRUE(gradient.eq(0.0625).all().item<bool>()) << type << ": " << gradient;
  }
}

TEST(ScalerOnMps, KeepsAFlagThatWasRaisedBefore) {
  const MpsKernels mps;
  EXPECT_EQ(unscale({at::ones({2})}, 1, ScalerKernels::kPartial, 1), 1);
  EXPECT_EQ(unscale({at::ones({2})}, 1, ScalerKernels::kPartial, 3), 3) << "three ranks";
  EXPECT_EQ(unscale({at::full({2}, kInf)}, 1, ScalerKernels::kPartial, 3), 1);
}

TEST(ScalerOnMps, FindsAnOverflowInAnyOfSeveralTypes) {
  const MpsKernels mps;
  const std::vector<at::ScalarType> types = {at::kHalf, at::kFloat, at::kBFloat16};
  for (std::size_t bad = 0; bad < types.size(); ++bad) {
    std::vector<at::Tensor> gradients;
    for (const at::ScalarType type : types) gradients.push_back(at::ones({4}, type));
    gradients[bad].select(0, 3).fill_(bad == 1 ? kInf : std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(unscale(gradients, 0.5, ScalerKernels::kPartial), 1) << types[bad];
  }
}

TEST(ScalerOnMps, NeverGrowsToInfinity) {
  const MpsKernels mps;
  const ScaleState top = update({0x1p127F, 2}, false, 3, ScalerKernels::kPartial);
  EXPECT_EQ(top.scale, 0x1p127F);
  EXPECT_EQ(top.tracker, 0);
  EXPECT_EQ(update({4, 2}, false, 3, ScalerKernels::kPartial).scale, 8);
  EXPECT_EQ(update({4, 2}, true, 3, ScalerKernels::kPartial).scale, 2);
  EXPECT_EQ(update({4, 0}, false, 3, ScalerKernels::kPartial).tracker, 1);
}

TEST(Scaler, TakesTheCarefulWayOnMpsOnly) {
  EXPECT_EQ(scaler_kernels(c10::kMPS), ScalerKernels::kPartial);
  for (const c10::DeviceType type : {c10::kCPU, c10::kCUDA, c10::kXPU, c10::kPrivateUse1}) {
    EXPECT_EQ(scaler_kernels(type), ScalerKernels::kWhole) << type;
  }
}

TEST(Scaler, RefusesAGrowthIntervalThatTheTrackerCannotReach) {
  EXPECT_EQ(update({4, 0}, false, 0x7fffffff, ScalerKernels::kWhole).tracker, 1);
  for (const std::uint32_t interval : {0U, 0x80000000U, 0xffffffffU}) {
    try {
      update({4, 0}, false, interval, ScalerKernels::kWhole);
      ADD_FAILURE() << interval << " was taken";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), LRA_INVALID_ARGUMENT);
      EXPECT_EQ(std::string(failure.what()),
                "growth_interval is " + std::to_string(interval) + ", needed 1 to 2147483647");
    }
  }
}

}  // namespace
}  // namespace lerobot::sdk
