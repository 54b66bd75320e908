#include "host/train/train_step.h"

#include "host/train/phase_clock.h"

namespace lerobot::train {

TrainStep::TrainStep(policy::Policy& policy, optim::Optimizer& optimizer, optim::LrScheduler* scheduler,
                     accel::Accelerator& accelerator, const StepOptions& options)
    : policy_(policy), optimizer_(optimizer), scheduler_(scheduler), accelerator_(accelerator), options_(options) {
  for (const auto& [name, parameter] : policy.parameters()) parameters_.push_back(parameter);
}

StepReport TrainStep::operator()(const policy::Batch& batch) {
  StepReport report;
  PhaseClock clock;
  report.loss = forward(batch);
  report.forward_s = clock.lap();

  report.loss.total.div(static_cast<double>(options_.accumulation_steps)).backward();
  report.loss.total = report.loss.total.detach();
  report.backward_s = clock.lap();

  report.updated = ++micro_batches_ % options_.accumulation_steps == 0;
  if (report.updated) report.grad_norm = update();
  if (scheduler_) scheduler_->step();  // at every micro-batch, as the reference does
  report.optimizer_s = clock.lap();
  return report;
}

policy::Loss TrainStep::forward(const policy::Batch& batch) {
  const precision::AutocastScope autocast(accelerator_, options_.precision);
  return policy_.forward(batch);
}

std::optional<at::Tensor> TrainStep::update() {
  std::optional<at::Tensor> norm;
  if (options_.grad_clip_norm > 0) norm = optim::clip_grad_norm(parameters_, options_.grad_clip_norm);
  optimizer_.step();
  optimizer_.zero_grad();
  return norm;
}

}  // namespace lerobot::train
