#include "host/train/train_step.h"

#include <ATen/ops/isfinite.h>

#include "host/train/phase_clock.h"

namespace lerobot::train {

TrainStep::TrainStep(const StepParts& parts, const StepOptions& options) : parts_(parts), options_(options) {
  for (const auto& [name, parameter] : parts_.policy.parameters()) parameters_.push_back(parameter);
}

StepReport TrainStep::operator()(const policy::Batch& batch) {
  StepReport report;
  PhaseClock clock;
  enter(Place::kForward);
  report.loss = forward(batch);
  report.forward_s = clock.lap();

  enter(Place::kBackward);
  backward(report.loss);
  report.loss.total = report.loss.total.detach();
  report.backward_s = clock.lap();

  enter(Place::kOptimizer);
  report.updated = ++micro_batches_ % options_.accumulation_steps == 0;
  if (report.updated) update(report);
  // At every micro-batch, and after a skipped update too, as the reference does.
  if (parts_.scheduler) parts_.scheduler->step();
  report.optimizer_s = clock.lap();
  return report;
}

policy::Loss TrainStep::forward(const policy::Batch& batch) {
  const precision::AutocastScope autocast(parts_.accelerator, options_.precision);
  return parts_.policy.forward(batch);
}

void TrainStep::backward(const policy::Loss& loss) {
  const at::Tensor share = loss.total.div(static_cast<double>(options_.accumulation_steps));
  parts_.scaler.scale(share).backward();
}

void TrainStep::update(StepReport& report) {
  parts_.scaler.unscale(parameters_);
  if (options_.grad_clip_norm > 0) report.grad_norm = parts_.optimizer.clip(options_.grad_clip_norm);
  report.found_inf = parts_.scaler.found_inf();
  if (parts_.before_update) parts_.before_update();
  parts_.optimizer.step(report.found_inf);
  if (parts_.ema) parts_.ema->step(report.found_inf);
  parts_.optimizer.zero_grad();
  parts_.scaler.update();
}

std::string TrainStep::find_overflow(const policy::Batch& batch) {
  parts_.optimizer.zero_grad();
  const policy::Loss loss = forward(batch);
  backward(loss);
  std::string found = "With the present scale the gradients of the last batch are finite.";
  for (const auto& [name, parameter] : parts_.policy.parameters()) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || at::isfinite(gradient).all().item<bool>()) continue;
    found = "The first gradient that is not finite is that of " + name + ".";
    break;
  }
  parts_.optimizer.zero_grad();
  return found;
}

}  // namespace lerobot::train
