#pragma once

#include <cstdint>

// Loops over all elements of a parameter or a part of it.

namespace lerobot::kernels {

/// The sum of squares of n elements, in double precision.
double sum_of_squares(const float* x, std::int64_t n);

/// What one step of Adam does to each element.
struct AdamStep {
  double beta1, beta2, eps;
  double lr, weight_decay;
  bool decoupled;          ///< AdamW: the decay acts on the parameter, not on the gradient
  double step;             ///< number of this update, from 1
  double gradient_factor;  ///< on the gradient, as clipping wants it
};

/// One step on n elements (Kingma and Ba 2015; AdamW: Loshchilov and Hutter 2019), in float32 with the bias corrections
/// in double precision, reading and writing each number once.
void adam(float* parameter, const float* gradient, float* exp_avg, float* exp_avg_sq, std::int64_t n,
          const AdamStep& step);

/// average <- average - weight * (average - x), in the order of torch's operators.
void move_average(float* average, const float* x, float weight, std::int64_t n);

}  // namespace lerobot::kernels
