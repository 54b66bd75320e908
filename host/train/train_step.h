#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/accel/accelerator.h"
#include "host/base/ordered_map.h"
#include "host/optim/ema.h"
#include "host/optim/optimizer.h"
#include "host/optim/scheduler.h"
#include "host/policy/policy.h"
#include "host/precision/autocast_scope.h"
#include "host/precision/grad_scaler.h"
#include "host/train/place.h"

namespace lerobot::train {

/// What one micro-batch came to. Tensors are scalars on the device: reading one waits for it, so only the log does.
struct StepReport {
  policy::Loss loss;                    ///< not divided by the accumulation steps
  std::optional<at::Tensor> grad_norm;  ///< before clipping; only when an update was due and clipping is on
  std::optional<at::Tensor> found_inf;  ///< not 0: the update due here was skipped; only with a loss scaler
  bool updated = false;                 ///< an update was due: the accumulation window was full
  double forward_s = 0;                 ///< host seconds; on an asynchronous device the time to enqueue
  double backward_s = 0;
  double optimizer_s = 0;
};

struct StepOptions {
  accel::Precision precision = accel::Precision::kFloat32;
  std::int64_t accumulation_steps = 1;
  double grad_clip_norm = 0;  ///< 0 or less: no clipping
};

/// What a step works with; all of it outlives the step.
struct StepParts {
  policy::Policy& policy;
  optim::Optimizer& optimizer;
  precision::GradScaler& scaler;
  optim::LrScheduler* scheduler = nullptr;  ///< null without one
  optim::Ema* ema = nullptr;                ///< null without one
  accel::Accelerator& accelerator;
  Place* place = nullptr;  ///< kept up to date; null: nobody asks
  /// Called when the gradients of an update are there, before weights, optimizer state or average change. May be empty.
  std::function<void()> before_update;
};

/// Forward, backward and, when the accumulation window is full, clipping and the optimizer's update.
class TrainStep {
 public:
  TrainStep(const StepParts& parts, const StepOptions& options);

  StepReport operator()(const policy::Batch& batch);

  /// The policy's loss in the run's precision.
  policy::Loss forward(const policy::Batch& batch);

  /// For the message of a run that stops: repeats forward and backward, and names the first parameter whose gradient is
  /// not finite. The gradients are dropped afterwards.
  std::string find_overflow(const policy::Batch& batch);

 private:
  void enter(Place place) const {
    if (parts_.place) *parts_.place = place;
  }
  void backward(const policy::Loss& loss);
  void update(StepReport& report);

  StepParts parts_;
  StepOptions options_;
  std::vector<at::Tensor> parameters_;
  std::int64_t micro_batches_ = 0;
};

}  // namespace lerobot::train
