#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/train/train_step.h"

namespace lerobot::train {

/// What a step came to, as numbers.
struct StepValues {
  std::int64_t step = 0;           ///< counted from 1
  std::vector<std::int64_t> rows;  ///< the samples of its batch, as rows of the dataset
  double loss = 0;
  OrderedMap<double> parts;
  std::optional<double> grad_norm;
  bool updated = false;  ///< an update was due after it
  bool skipped = false;  ///< the update that it is part of overflowed and did not happen
};

/// Steps whose values still lie on the device: reading them waits, so it is done for many at once.
class PendingSteps {
 public:
  /// `scaled`: with a loss scaler, whose flags come with each update.
  explicit PendingSteps(bool scaled) : scaled_(scaled) {}

  void add(std::int64_t step, std::vector<std::int64_t> rows, const StepReport& report);
  std::size_t size() const { return steps_.size(); }

  /// Waits for the device and forgets what it returns. With a loss scaler, steps of an accumulation window that is
  /// still open stay: whether their update happens is not known yet.
  std::vector<StepValues> read();

 private:
  struct Pending {
    StepValues values;
    StepReport report;
  };
  bool scaled_;
  std::vector<Pending> steps_;
};

}  // namespace lerobot::train
