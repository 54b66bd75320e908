#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "host/kernels/parameters.h"

// One pass over all parameters on the CPU in float32, on torch's threads. Tensors that belong together have the same
// strides and no gaps.

namespace lerobot::fused {

/// The Euclidean norm of all elements. The same for any number of threads.
double norm(const std::vector<at::Tensor>& tensors);

/// A parameter and what Adam keeps for it.
struct AdamTensors {
  at::Tensor parameter, gradient, exp_avg, exp_avg_sq;
  kernels::AdamStep step;
};

/// One step of Adam on each.
void adam(std::vector<AdamTensors>& all);

/// averages[i] <- averages[i] - weight * (averages[i] - values[i]): the bits of torch's operators in that order.
void move_averages(const std::vector<at::Tensor>& averages, const std::vector<at::Tensor>& values, float weight);

}  // namespace lerobot::fused
