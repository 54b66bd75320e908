#include "host/train/trainer.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/report/progress_bar.h"
#include "host/train/interrupt.h"
#include "host/train/phase_clock.h"
#include "host/train/step_values.h"

namespace lerobot::train {
namespace {

bool due(std::int64_t frequency, std::int64_t step) {
  return frequency > 0 && step % frequency == 0;
}

/// The most memory that the process had, in GiB.
double peak_host_memory_gb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / static_cast<double>(1U << 20U);  // of KiB
}

/// Steps whose values may wait on the device: a bound for runs that seldom log.
constexpr std::int64_t kMaxPending = 200;

class Loop {
 public:
  Loop(const LoopOptions& options, const LoopParts& parts, std::int64_t start_step)
      : options_(options),
        parts_(parts),
        step_(start_step),
        saved_step_(start_step),
        read_freq_(read_frequency()),
        pending_(parts.scaler->enabled()),
        watch_(options.watch, watch_texts()) {
    if (parts_.scaler->enabled()) {
      parts_.metrics->add_meter("scale", "scale", "{:.10g}");
      parts_.metrics->add_meter("skipped_updates", "skip", "{:.0f}");
    }
    if (parts_.accelerator->memory_stats()) parts_.metrics->add_meter("gpu_mem_gb", "mem_gb", "{:.2f}");
  }

  int run() {
    try {
      return train();
    } catch (...) {
      end_save();  // its failure is told before the one that ends the run
      throw;
    }
  }

 private:
  int train() {
    const InterruptGuard interrupt({SIGINT, SIGTERM});
    report::ProgressBar progress("Training", "step", std::max<std::int64_t>(options_.steps - step_, 0));
    while (step_ < options_.steps) {
      const StepReport report = one_step();
      progress.advance();
      if (parts_.saver->ended()) end_save();
      if (due(read_freq_, step_)) read_pending();
      if (due(options_.log_freq, step_)) log_window();
      if (parts_.held_out_loss && due(options_.eval_steps, step_)) evaluate();
      // A checkpoint holds no half accumulated gradients: inside an accumulation window the save waits for its end.
      save_due_ = save_due_ || due(options_.save_freq, step_);
      const bool last = step_ == options_.steps;
      if (save_due_ && report.updated && !last) save_in_passing();
      if (InterruptGuard::signal() != 0 && report.updated && !last) return stop_early(InterruptGuard::signal());
    }
    read_pending();
    const int status = save_at_end();
    if (watch_.skipped_updates() > 0) log::info("{} updates were skipped by the loss scaler", watch_.skipped_updates());
    log::info("End of training");
    return status;
  }

  /// How often the device's values are read: for the log, and often enough for the watch to notice in time.
  std::int64_t read_frequency() const {
    std::int64_t frequency = kMaxPending;
    const auto limit = [&](std::int64_t other) {
      if (other > 0) frequency = std::min(frequency, other);
    };
    limit(options_.log_freq);
    if (parts_.scaler->enabled()) limit(options_.watch.max_skipped_updates);
    return frequency;
  }

  WatchTexts watch_texts() {
    return {.examine_samples = parts_.examine_samples,
            .find_overflow = [this] { return parts_.step->find_overflow(last_batch_); },
            .saved_step =
                [this] {
                  end_save();
                  return saved_step_;
                }};
  }

  StepReport one_step() {
    PhaseClock whole;
    TrainingBatch batch = parts_.next_batch();
    PhaseClock clock;
    const StepReport report = (*parts_.step)(batch.tensors);
    const double update_s = clock.lap();
    ++step_;
    parts_.metrics->count_step();
    pending_.add(step_, std::move(batch.rows), report);
    record(report, batch, update_s, whole.lap());
    if (parts_.scaler->enabled()) last_batch_ = std::move(batch.tensors);
    return report;
  }

  void record(const StepReport& report, const TrainingBatch& batch, double update_s, double step_s) {
    report::Metrics& metrics = *parts_.metrics;
    metrics.add("lr", parts_.optimizer->groups().front().lr);
    metrics.add("dataloading_s", batch.dataloading_s);
    metrics.add("preprocessing_s", batch.preprocessing_s);
    metrics.add("update_s", update_s);
    metrics.add("step_s", step_s);
    metrics.add_detail("forward_s", report.forward_s);
    metrics.add_detail("backward_s", report.backward_s);
    metrics.add_detail("optimizer_s", report.optimizer_s);
  }

  /// Waits for the device: values into the averages, and the run stops here if they say that nothing is learned.
  void read_pending() {
    bool skipped = false;
    for (const StepValues& values : pending_.read()) {
      add_values(values);
      watch_.check(values);
      skipped = skipped || values.skipped;
    }
    if (skipped) watch_.check_scale(parts_.scaler->current_scale().item<float>());
  }

  void add_values(const StepValues& values) {
    const auto add = [&](std::string_view name, double value) {
      // What overflowed and was skipped says nothing about the training.
      if (!values.skipped || std::isfinite(value)) parts_.metrics->add(name, value);
    };
    add("loss", values.loss);
    if (values.grad_norm) add("grad_norm", *values.grad_norm);
    for (const auto& [name, part] : values.parts) add(name, part);
  }

  void log_window() {
    read_pending();
    report::Metrics& metrics = *parts_.metrics;
    add_state(metrics);
    metrics.finish_window();
    log::info("{}", metrics.line());
    parts_.metrics_log->write(metrics.record());
    warn_about_data_wait(metrics);
    metrics.start_window();
  }

  /// The loss on held-out data; one that is not finite does not concern the training.
  void evaluate() {
    const std::optional<double> loss = parts_.held_out_loss();
    if (!loss) {
      log::warn("step {}: the held-out loss was left unfinished", step_);
      return;
    }
    log::info("step {}: eval_loss={:.4f}", step_, *loss);
    if (!std::isfinite(*loss)) log::warn("step {}: the held-out loss is not finite; training goes on", step_);
    parts_.metrics_log->write({{"step", step_}, {"eval_loss", *loss}}, "eval");
  }

  /// What is not an average: how things stand now.
  void add_state(report::Metrics& metrics) {
    metrics.add_detail("host_mem_gb", peak_host_memory_gb());
    if (parts_.scaler->enabled()) {
      metrics.add("scale", parts_.scaler->current_scale().item<float>());
      metrics.add("skipped_updates", static_cast<double>(watch_.skipped_updates()));
    }
    if (parts_.ema) {
      metrics.add_detail("ema/decay", parts_.ema->decay().item<double>());
      metrics.add_detail("ema/step", static_cast<double>(parts_.ema->optimization_step().item<std::int64_t>()));
    }
    if (const auto memory = parts_.accelerator->memory_stats()) {
      metrics.add("gpu_mem_gb", static_cast<double>(memory->allocated_peak) / (1U << 30U));
    }
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

  void begin_save() {
    save_due_ = false;
    read_pending();  // what is not worth keeping is not saved
    log::info("Checkpoint policy after step {}", step_);
    saving_step_ = step_;
    parts_.saver->begin(parts_.state(step_, watch_.skipped_updates()));
  }

  void finish_save() {
    parts_.saver->finish();
    saved_step_ = saving_step_;
  }

  /// A save in the middle that fails costs the checkpoint, not the run: the next one is tried.
  void save_in_passing() {
    if (!options_.save_checkpoint) return;
    end_save();
    try {
      begin_save();
    } catch (const Error& error) {
      report_failed_save(error);
    }
  }

  /// Waits for the save in flight, if there is one.
  void end_save() {
    if (!parts_.saver->in_flight()) return;
    try {
      finish_save();
    } catch (const Error& error) {
      report_failed_save(error);
    }
  }

  /// To be called in a handler: rethrows what is more than a failed save.
  void report_failed_save(const Error& error) const {
    if (error.kind() != ErrorKind::kIo) throw;
    log::error("the checkpoint of step {} could not be saved: {}", saving_step_, error.what());
  }

  int save_at_end() {
    end_save();
    if (!options_.save_checkpoint || saved_step_ == step_) return 0;
    begin_save();
    finish_save();
    return 0;
  }

  int stop_early(int signal) {
    log::warn("{}: stopping after step {}", InterruptGuard::name(signal), step_);
    save_at_end();
    return InterruptGuard::exit_code(signal);
  }

  LoopOptions options_;
  LoopParts parts_;
  std::int64_t step_;
  std::int64_t saved_step_;       ///< whose checkpoint is on the disk
  std::int64_t saving_step_ = 0;  ///< of the latest save, in flight or not
  std::int64_t read_freq_;
  PendingSteps pending_;
  RunWatch watch_;
  policy::Batch last_batch_;  ///< kept with a loss scaler only
  std::int64_t windows_ = 0;
  bool warned_ = false;
  bool save_due_ = false;
};

}  // namespace

int run_loop(const LoopOptions& options, const LoopParts& parts, std::int64_t start_step) {
  return Loop(options, parts, start_step).run();
}

}  // namespace lerobot::train
