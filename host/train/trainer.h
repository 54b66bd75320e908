#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/report/metrics.h"
#include "host/report/metrics_log.h"
#include "host/train/train_step.h"

namespace lerobot::train {

/// Values on the device between two log lines; read all at once when the line is due.
class PendingValues {
 public:
  void add(std::string_view name, const at::Tensor& scalar) { values_[name].push_back(scalar); }
  /// Waits for the device, hands every value to `metrics` and forgets it.
  void flush(report::Metrics& metrics);

 private:
  OrderedMap<std::vector<at::Tensor>> values_;
};

struct LoopOptions {
  std::int64_t steps = 0;  ///< where to stop, counted in micro-batches
  std::int64_t log_freq = 0;
  std::int64_t save_freq = 0;
  bool save_checkpoint = true;
};

/// The sources and sinks of the loop.
struct LoopParts {
  /// The next batch, ready for the policy. Sets the seconds spent waiting for data and preparing it.
  std::function<policy::Batch(double& dataloading_s, double& preprocessing_s)> next_batch;
  TrainStep* step = nullptr;
  optim::Optimizer* optimizer = nullptr;
  report::Metrics* metrics = nullptr;
  report::MetricsLog* metrics_log = nullptr;
  /// Writes a checkpoint of the given step. Throws Error(kIo) when there is no room.
  std::function<void(std::int64_t step)> save;
};

/// Runs the loop from `start_step` on: train, log, save, in the reference's order. Returns the process's exit code:
/// 0, 130 after SIGINT and 143 after SIGTERM (the run was saved), or that of a final save that failed.
int run_loop(const LoopOptions& options, const LoopParts& parts, std::int64_t start_step);

}  // namespace lerobot::train
