#include "host/precision/grad_scaler.h"

#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/grad_mode.h>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/precision/scaler_state.h"
#include "host/precision/tensor_view.h"

namespace lerobot::precision {

GradScaler::GradScaler(accel::Accelerator& accelerator, const at::Device& device,
                       const config::GradScalerConfig& settings, bool enabled)
    : accelerator_(accelerator),
      device_(device),
      enabled_(enabled),
      has_float64_((accelerator.device_info().capabilities & LRA_CAP_FLOAT64) != 0),
      rule_{.growth_factor = settings.growth_factor,
            .backoff_factor = settings.backoff_factor,
            .growth_interval = static_cast<std::uint32_t>(settings.growth_interval)} {
  if (!enabled_) return;
  set_state(settings.init_scale, 0);
  if (!accelerator_.has_scaler_unscale() || !accelerator_.has_scaler_update()) {
    log::info("plugin {} has no scaler operations of its own: plain operators do their work", accelerator_.plugin_id());
  }
}

void GradScaler::set_state(double scale, std::int64_t tracker) {
  const auto cell = at::TensorOptions().device(device_);
  scale_ = at::full({}, scale, cell.dtype(at::kFloat));
  growth_tracker_ = at::full({}, tracker, cell.dtype(at::kInt));
}

at::Tensor GradScaler::scale(const at::Tensor& loss) const {
  return enabled_ ? loss.mul(scale_) : loss;
}

void GradScaler::unscale(const std::vector<at::Tensor>& parameters) {
  if (!enabled_) return;
  if (round_ != Round::kOpen) fail(ErrorKind::kInternal, "the gradients of this update are unscaled already");
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (gradients.empty()) {
    fail(
        ErrorKind::kNumerics,
        "no gradient to unscale: none of the {} parameters got one in this update. The loss must depend on a parameter "
        "that is trained.",
        parameters.size());
  }
  const at::NoGradGuard no_grad;
  found_inf_ = at::zeros({}, scale_.options());
  const at::Tensor inv_scale = inverse_scale();
  if (accelerator_.has_scaler_unscale()) {
    std::vector<accel::TensorView> views;
    views.reserve(gradients.size());
    for (const at::Tensor& gradient : gradients) views.push_back(view_of(gradient));
    accelerator_.scaler_unscale(views, view_of(found_inf_), view_of(inv_scale));
  } else {
    unscale_plain(gradients, inv_scale);
  }
  round_ = Round::kUnscaled;
}

void GradScaler::unscale_plain(const std::vector<at::Tensor>& gradients, const at::Tensor& inv_scale) {
  for (at::Tensor gradient : gradients) {
    found_inf_.copy_(found_inf_.maximum(at::isfinite(gradient).all().logical_not()));
    gradient.mul_(inv_scale);
  }
}

at::Tensor GradScaler::inverse_scale() const {
  return has_float64_ ? scale_.to(at::kDouble).reciprocal().to(at::kFloat) : scale_.reciprocal();
}

at::Tensor GradScaler::scaled_by(double factor) const {
  return has_float64_ ? scale_.to(at::kDouble).mul(factor).to(at::kFloat) : scale_.mul(factor);
}

std::optional<at::Tensor> GradScaler::found_inf() const {
  if (!enabled_) return std::nullopt;
  if (round_ != Round::kUnscaled) fail(ErrorKind::kInternal, "the gradients of this update are not unscaled yet");
  return found_inf_;
}

void GradScaler::update() {
  if (!enabled_) return;
  if (round_ != Round::kUnscaled) fail(ErrorKind::kInternal, "the loss scale was to change without an overflow check");
  const at::NoGradGuard no_grad;
  if (accelerator_.has_scaler_update()) {
    accelerator_.scaler_update(view_of(scale_), view_of(growth_tracker_), view_of(found_inf_), rule_);
  } else {
    update_plain();
  }
  round_ = Round::kOpen;
}

void GradScaler::update_plain() {
  const at::Tensor overflowed = found_inf_.ne(0);
  const at::Tensor good_steps = growth_tracker_.add(1);
  const at::Tensor due = good_steps.eq(static_cast<std::int64_t>(rule_.growth_interval));
  const at::Tensor grown = scaled_by(rule_.growth_factor);
  const at::Tensor kept_or_grown = at::where(due.logical_and(at::isfinite(grown)), grown, scale_);
  scale_.copy_(at::where(overflowed, scaled_by(rule_.backoff_factor), kept_or_grown));
  growth_tracker_.copy_(good_steps.masked_fill(overflowed.logical_or(due), 0));
}

boost::json::value GradScaler::state_json() const {
  if (!enabled_) return boost::json::object();
  return to_json({.scale = scale_.item<float>(),
                  .growth_factor = rule_.growth_factor,
                  .backoff_factor = rule_.backoff_factor,
                  .growth_interval = rule_.growth_interval,
                  .growth_tracker = growth_tracker_.item<std::int32_t>()});
}

void GradScaler::load(const boost::json::value& state, std::string_view source) {
  const ScalerState stored = read_scaler_state(state, source);
  rule_ = {.growth_factor = stored.growth_factor,
           .backoff_factor = stored.backoff_factor,
           .growth_interval = static_cast<std::uint32_t>(stored.growth_interval)};
  set_state(stored.scale, stored.growth_tracker);
}

}  // namespace lerobot::precision
