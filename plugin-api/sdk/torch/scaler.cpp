#include "sdk/torch/scaler.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sdk/structs.h"
#include "sdk/torch/views.h"

namespace lerobot::sdk {
namespace {

/// Raises `flag` to 1 where `bad`, one boolean, is true; all of it on the device.
void raise(at::Tensor& flag, const at::Tensor& bad) {
  flag.masked_fill_(bad, 1.0);
}

/// Gradients of one dtype, which is what the fused operator takes.
void unscale_alike(at::TensorList gradients, at::Tensor& found_inf, const at::Tensor& inv_scale,
                   ScalerKernels kernels) {
  if (kernels == ScalerKernels::kWhole) {
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, inv_scale);
    return;
  }
  if (gradients[0].scalar_type() == at::kFloat) {
    at::Tensor found_here = at::zeros_like(found_inf);
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_here, inv_scale);
    return raise(found_inf, found_here.gt(0));
  }
  for (at::Tensor gradient : gradients) {
    raise(found_inf, at::isfinite(gradient).all().logical_not());
    gradient.copy_(gradient.to(at::kFloat).mul_(inv_scale.squeeze()));
  }
}

void check_rule(const lra_scaler_update_args& args) {
  if (!(args.growth_factor > 1.0) || !std::isfinite(args.growth_factor)) {
    throw Failure(LRA_INVALID_ARGUMENT, "growth_factor is " + std::to_string(args.growth_factor) + ", needed above 1");
  }
  if (!(args.backoff_factor > 0.0 && args.backoff_factor < 1.0)) {
    throw Failure(LRA_INVALID_ARGUMENT,
                  "backoff_factor is " + std::to_string(args.backoff_factor) + ", needed between 0 and 1");
  }
  constexpr auto kMost = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());  // the tracker's type
  if (args.growth_interval == 0 || args.growth_interval > kMost) {
    throw Failure(LRA_INVALID_ARGUMENT, "growth_interval is " + std::to_string(args.growth_interval) +
                                            ", needed 1 to " + std::to_string(kMost));
  }
}

}  // namespace

ScalerKernels scaler_kernels(c10::DeviceType type) {
  return type == c10::kMPS ? ScalerKernels::kPartial : ScalerKernels::kWhole;
}

void unscale_gradients(c10::Device device, const lra_unscale_args& args, ScalerKernels kernels) {
  check_reserved(args.stream, "lra_unscale_args.stream");
  at::Tensor found_inf = view_cell(args.found_inf, device, at::kFloat, "found_inf");
  const at::Tensor inv_scale = view_cell(args.inv_scale, device, at::kFloat, "inv_scale");
  std::vector<at::Tensor> gradients =
      view_tensors(args.gradients, args.gradient_count, device, {at::kFloat, at::kHalf, at::kBFloat16}, "gradients");
  for (auto rest = gradients.begin(); rest != gradients.end();) {
    const at::ScalarType dtype = rest->scalar_type();
    const auto end =
        std::partition(rest, gradients.end(), [&](const at::Tensor& g) { return g.scalar_type() == dtype; });
    unscale_alike(at::TensorList(&*rest, static_cast<std::size_t>(end - rest)), found_inf, inv_scale, kernels);
    rest = end;
  }
}

void update_scale(c10::Device device, const lra_scaler_update_args& args, ScalerKernels kernels) {
  check_reserved(args.stream, "lra_scaler_update_args.stream");
  check_reserved(args.reserved, "lra_scaler_update_args.reserved");
  check_rule(args);
  at::Tensor scale = view_cell(args.scale, device, at::kFloat, "scale");
  at::Tensor growth_tracker = view_cell(args.growth_tracker, device, at::kInt, "growth_tracker");
  const at::Tensor found_inf = view_cell(args.found_inf, device, at::kFloat, "found_inf");
  at::Tensor next = kernels == ScalerKernels::kWhole ? scale : scale.clone();
  at::_amp_update_scale_(next, growth_tracker, found_inf, args.growth_factor, args.backoff_factor,
                         args.growth_interval);
  if (kernels == ScalerKernels::kPartial) scale.copy_(at::where(at::isfinite(next), next, scale));
}

}  // namespace lerobot::sdk
