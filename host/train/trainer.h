#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/checkpoint/background_save.h"
#include "host/report/metrics.h"
#include "host/report/metrics_log.h"
#include "host/train/run_watch.h"
#include "host/train/train_step.h"

namespace lerobot::train {

struct LoopOptions {
  std::int64_t steps = 0;  ///< where to stop, counted in micro-batches
  std::int64_t log_freq = 0;
  std::int64_t eval_steps = 0;
  std::int64_t save_freq = 0;
  bool save_checkpoint = true;
  WatchOptions watch;
};

/// A batch ready for the policy.
struct TrainingBatch {
  policy::Batch tensors;
  std::vector<std::int64_t> rows;  ///< its samples, as rows of the dataset
  double dataloading_s = 0;        ///< seconds spent waiting for it
  double preprocessing_s = 0;      ///< seconds spent preparing it
};

/// The sources and sinks of the loop.
struct LoopParts {
  std::function<TrainingBatch()> next_batch;
  TrainStep* step = nullptr;
  optim::Optimizer* optimizer = nullptr;
  precision::GradScaler* scaler = nullptr;
  optim::Ema* ema = nullptr;  ///< null without one
  accel::Accelerator* accelerator = nullptr;
  report::Metrics* metrics = nullptr;
  report::MetricsLog* metrics_log = nullptr;
  /// The loss on held-out data, or nothing when a signal ended it; no function without such data.
  std::function<std::optional<double>()> held_out_loss;
  /// What is wrong with these samples, in sentences for a message.
  std::function<std::string(const std::vector<std::int64_t>& rows)> examine_samples;
  /// What is to be saved after the given step and so many skipped updates.
  std::function<checkpoint::Checkpoint(std::int64_t step, std::int64_t skipped_updates)> state;
  checkpoint::BackgroundSave* saver = nullptr;  ///< the step waits until it has read what an update changes
};

/// Runs the loop from `start_step` on: train, log, evaluate, save, in the reference's order. Values stay on the device
/// until a log line, a checkpoint or the watch over skipped updates needs them. A save goes on beside the steps that
/// follow; nothing is in flight any more when the loop ends. Returns the process's exit code: 0, or that of
/// InterruptGuard after a signal (the run was saved). Throws what a final save failed with.
int run_loop(const LoopOptions& options, const LoopParts& parts, std::int64_t start_step);

}  // namespace lerobot::train
