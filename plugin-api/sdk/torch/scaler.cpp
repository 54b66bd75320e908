#include "sdk/torch/scaler.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>

#include <algorithm>
#include <cmath>

#include "sdk/structs.h"
#include "sdk/torch/views.h"

namespace lerobot::sdk {

void unscale_gradients(c10::Device device, const lra_unscale_args& args) {
  check_reserved(args.stream, "lra_unscale_args.stream");
  at::Tensor found_inf = view_cell(args.found_inf, device, at::kFloat, "found_inf");
  const at::Tensor inv_scale = view_cell(args.inv_scale, device, at::kFloat, "inv_scale");
  std::vector<at::Tensor> gradients =
      view_tensors(args.gradients, args.gradient_count, device, {at::kFloat, at::kHalf, at::kBFloat16}, "gradients");
  // The fused operator takes tensors of one dtype.
  for (auto rest = gradients.begin(); rest != gradients.end();) {
    const at::ScalarType dtype = rest->scalar_type();
    const auto end =
        std::partition(rest, gradients.end(), [&](const at::Tensor& g) { return g.scalar_type() == dtype; });
    at::_amp_foreach_non_finite_check_and_unscale_(at::TensorList(&*rest, static_cast<std::size_t>(end - rest)),
                                                   found_inf, inv_scale);
    rest = end;
  }
}

void update_scale(c10::Device device, const lra_scaler_update_args& args) {
  check_reserved(args.stream, "lra_scaler_update_args.stream");
  check_reserved(args.reserved, "lra_scaler_update_args.reserved");
  if (!(args.growth_factor > 1.0) || !std::isfinite(args.growth_factor)) {
    throw Failure(LRA_INVALID_ARGUMENT, "growth_factor is " + std::to_string(args.growth_factor) + ", needed above 1");
  }
  if (!(args.backoff_factor > 0.0 && args.backoff_factor < 1.0)) {
    throw Failure(LRA_INVALID_ARGUMENT,
                  "backoff_factor is " + std::to_string(args.backoff_factor) + ", needed between 0 and 1");
  }
  if (args.growth_interval == 0) throw Failure(LRA_INVALID_ARGUMENT, "growth_interval is 0, needed at least 1");
  at::Tensor scale = view_cell(args.scale, device, at::kFloat, "scale");
  at::Tensor growth_tracker = view_cell(args.growth_tracker, device, at::kInt, "growth_tracker");
  const at::Tensor found_inf = view_cell(args.found_inf, device, at::kFloat, "found_inf");
  at::_amp_update_scale_(scale, growth_tracker, found_inf, args.growth_factor, args.backoff_factor,
                         args.growth_interval);
}

}  // namespace lerobot::sdk
