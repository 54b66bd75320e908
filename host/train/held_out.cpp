#include "host/train/held_out.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <vector>

#include "host/report/progress_bar.h"
#include "host/train/interrupt.h"
#include "host/train/random_state.h"

namespace lerobot::train {
namespace {

/// Out of training mode for its lifetime.
class EvaluationMode {
 public:
  explicit EvaluationMode(policy::Policy& policy) : policy_(policy) { policy_.set_training(false); }
  ~EvaluationMode() { policy_.set_training(true); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  policy::Policy& policy_;
  const at::NoGradGuard no_grad_;
};

/// Waits for the device once. Summed in double, as Python sums its floats.
double mean(const std::vector<at::Tensor>& losses) {
  const at::Tensor values = at::stack(losses).to(at::kCPU).to(at::kDouble);
  double sum = 0;
  for (std::int64_t i = 0; i < values.numel(); ++i) sum += values.const_data_ptr<double>()[i];
  return sum / static_cast<double>(values.numel());
}

}  // namespace

std::optional<double> HeldOut::loss() {
  draw_loader_seed();
  const EvaluationMode evaluation(*parts_.policy);
  data::DataLoader loader(parts_.dataset, parts_.loading);
  report::ProgressBar progress("Evaluating", "batch", loader.batches_per_epoch());
  std::vector<at::Tensor> losses;
  while (InterruptGuard::signal() == 0) {
    const data::Batch batch = loader.next();
    if (batch.rows.empty()) return mean(losses);
    losses.push_back(parts_.forward(parts_.prepare(batch)).total);
    progress.advance();
  }
  return std::nullopt;
}

}  // namespace lerobot::train
