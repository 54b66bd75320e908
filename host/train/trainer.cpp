#include "host/train/trainer.h"

#include <ATen/ops/stack.h>

#include <cmath>
#include <csignal>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/report/progress_bar.h"
#include "host/train/interrupt.h"
#include "host/train/phase_clock.h"

namespace lerobot::train {
namespace {

bool due(std::int64_t frequency, std::int64_t step) {
  return frequency > 0 && step % frequency == 0;
}

class Loop {
 public:
  Loop(const LoopOptions& options, const LoopParts& parts, std::int64_t start_step)
      : options_(options), parts_(parts), step_(start_step), saved_step_(start_step) {}

  int run() {
    const InterruptGuard interrupt;
    report::ProgressBar progress("Training", "step", std::max<std::int64_t>(options_.steps - step_, 0));
    while (step_ < options_.steps) {
      const StepReport report = one_step();
      progress.advance();
      if (due(options_.log_freq, step_)) log_window();
      // A checkpoint holds no half accumulated gradients: inside an accumulation window the save waits for its end.
      save_due_ = save_due_ || due(options_.save_freq, step_);
      const bool last = step_ == options_.steps;
      if (save_due_ && report.updated && !last) save_in_passing();
      if (InterruptGuard::signal() != 0 && report.updated && !last) return stop_early(InterruptGuard::signal());
    }
    const int status = save_at_end();
    log::info("End of training");
    return status;
  }

 private:
  StepReport one_step() {
    PhaseClock whole;
    double dataloading_s = 0;
    double preprocessing_s = 0;
    const policy::Batch batch = parts_.next_batch(dataloading_s, preprocessing_s);
    PhaseClock clock;
    const StepReport report = (*parts_.step)(batch);
    const double update_s = clock.lap();
    ++step_;
    parts_.metrics->count_step();
    if (options_.log_freq > 0) record(report, dataloading_s, preprocessing_s, update_s, whole.lap());
    return report;
  }

  void record(const StepReport& report, double dataloading_s, double preprocessing_s, double update_s, double step_s) {
    report::Metrics& metrics = *parts_.metrics;
    pending_.add("loss", report.loss.total);
    if (report.grad_norm) pending_.add("grad_norm", *report.grad_norm);
    for (const auto& [name, part] : report.loss.parts) pending_.add(name, part);
    metrics.add("lr", parts_.optimizer->groups().front().lr);
    metrics.add("dataloading_s", dataloading_s);
    metrics.add("preprocessing_s", preprocessing_s);
    metrics.add("update_s", update_s);
    metrics.add("step_s", step_s);
    metrics.add_detail("forward_s", report.forward_s);
    metrics.add_detail("backward_s", report.backward_s);
    metrics.add_detail("optimizer_s", report.optimizer_s);
  }

  void log_window() {
    report::Metrics& metrics = *parts_.metrics;
    pending_.flush(metrics);
    metrics.finish_window();
    log::info("{}", metrics.line());
    parts_.metrics_log->write(metrics.record());
    warn_about_data_wait(metrics);
    require_finite_loss(metrics.average("loss"));
    metrics.start_window();
  }

  void warn_about_data_wait(const report::Metrics& metrics) {
    const double step_s = metrics.average("step_s");
    // The first window holds the start of the workers.
    if (windows_++ == 0 || warned_ || metrics.average("dataloading_s") <= 0.5 * step_s) return;
    log::warn(
        "more than half of each step waits for data ({:.3f} of {:.3f} s): more --num_workers or a larger "
        "--frame_cache_mb may help",
        metrics.average("dataloading_s"), step_s);
    warned_ = true;
  }

  /// Stops a run that trains on nothing; called where the loss was read anyway.
  void require_finite_loss(double loss) const {
    if (std::isfinite(loss)) return;
    fail(
        ErrorKind::kNumerics,
        "the loss is {} in the window that ends at step {}: training stopped, the last checkpoint is kept (step {}). A "
        "smaller learning rate or a look at the dataset's values (NaN, infinity) may help.",
        loss, step_, saved_step_);
  }

  void save() {
    log::info("Checkpoint policy after step {}", step_);
    parts_.save(step_);
    saved_step_ = step_;
    save_due_ = false;
  }

  /// A save in the middle that fails costs the checkpoint, not the run: the next one is tried.
  void save_in_passing() {
    if (!options_.save_checkpoint) return;
    try {
      save();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kIo) throw;
      log::error("the checkpoint of step {} could not be saved: {}", step_, error.what());
      save_due_ = false;
    }
  }

  int save_at_end() {
    if (!options_.save_checkpoint || saved_step_ == step_) return 0;
    save();
    return 0;
  }

  int stop_early(int signal) {
    log::warn("{}: stopping after step {}", signal == SIGINT ? "Ctrl-C" : "SIGTERM", step_);
    save_at_end();
    return 128 + signal;
  }

  LoopOptions options_;
  LoopParts parts_;
  std::int64_t step_;
  std::int64_t saved_step_;
  PendingValues pending_;
  std::int64_t windows_ = 0;
  bool warned_ = false;
  bool save_due_ = false;
};

}  // namespace

void PendingValues::flush(report::Metrics& metrics) {
  for (auto& [name, scalars] : values_) {
    if (scalars.empty()) continue;
    const at::Tensor values = at::stack(scalars).to(at::kCPU, at::kFloat);
    const float* data = values.const_data_ptr<float>();
    for (std::int64_t i = 0; i < values.numel(); ++i) metrics.add(name, data[i]);
    scalars.clear();
  }
}

int run_loop(const LoopOptions& options, const LoopParts& parts, std::int64_t start_step) {
  return Loop(options, parts, start_step).run();
}

}  // namespace lerobot::train
