#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "host/accel/accelerator.h"
#include "host/base/ordered_map.h"
#include "host/optim/optimizer.h"
#include "host/optim/scheduler.h"
#include "host/policy/policy.h"
#include "host/precision/autocast_scope.h"

namespace lerobot::train {

/// What one micro-batch came to. Tensors are scalars on the device: reading one waits for it, so only the log does.
struct StepReport {
  policy::Loss loss;                    ///< not divided by the accumulation steps
  std::optional<at::Tensor> grad_norm;  ///< before clipping; only when an update was made and clipping is on
  bool updated = false;                 ///< the optimizer stepped: the accumulation window was full
  double forward_s = 0;                 ///< host seconds; on an asynchronous device the time to enqueue
  double backward_s = 0;
  double optimizer_s = 0;
};

struct StepOptions {
  accel::Precision precision = accel::Precision::kFloat32;
  std::int64_t accumulation_steps = 1;
  double grad_clip_norm = 0;  ///< 0 or less: no clipping
};

/// Forward, backward and, when the accumulation window is full, clipping and the optimizer's update.
class TrainStep {
 public:
  /// `scheduler` may be null. All references outlive this object.
  TrainStep(policy::Policy& policy, optim::Optimizer& optimizer, optim::LrScheduler* scheduler,
            accel::Accelerator& accelerator, const StepOptions& options);

  StepReport operator()(const policy::Batch& batch);

 private:
  policy::Loss forward(const policy::Batch& batch);
  std::optional<at::Tensor> update();

  policy::Policy& policy_;
  optim::Optimizer& optimizer_;
  optim::LrScheduler* scheduler_;
  accel::Accelerator& accelerator_;
  StepOptions options_;
  std::vector<at::Tensor> parameters_;
  std::int64_t micro_batches_ = 0;
};

}  // namespace lerobot::train
