#include "host/kernels/parameters.h"

#include <cmath>

#include "host/base/clones.h"

namespace lerobot::kernels {
namespace {

/// The numbers of AdamStep that an element needs.
struct Constants {
  float beta1_rest, beta2, beta2_rest;  ///< rest: 1 - beta
  float gradient_factor;
  float added_decay;      ///< times the parameter, added to the gradient
  float kept;             ///< of the parameter
  float step_size;        ///< lr / (1 - beta1^step)
  float root_correction;  ///< 1 / sqrt(1 - beta2^step)
  float eps;
};

Constants constants(const AdamStep& s) {
  return {.beta1_rest = static_cast<float>(1 - s.beta1),
          .beta2 = static_cast<float>(s.beta2),
          .beta2_rest = static_cast<float>(1 - s.beta2),
          .gradient_factor = static_cast<float>(s.gradient_factor),
          .added_decay = static_cast<float>(s.decoupled ? 0 : s.weight_decay),
          .kept = static_cast<float>(s.decoupled ? 1 - s.lr * s.weight_decay : 1),
          .step_size = static_cast<float>(s.lr / (1 - std::pow(s.beta1, s.step))),
          .root_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(s.beta2, s.step))),
          .eps = static_cast<float>(s.eps)};
}

LEROBOT_CLONES void adam_elements(float* __restrict parameter, const float* __restrict gradient,
                                  float* __restrict exp_avg, float* __restrict exp_avg_sq, std::int64_t n,
                                  const Constants& constants) {
  const Constants c = constants;
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * c.gradient_factor + parameter[i] * c.added_decay;
    const float m = exp_avg[i] + (g - exp_avg[i]) * c.beta1_rest;
    const float v = exp_avg_sq[i] * c.beta2 + g * g * c.beta2_rest;
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    parameter[i] = parameter[i] * c.kept - c.step_size * m / (std::sqrt(v) * c.root_correction + c.eps);
  }
}

}  // namespace

LEROBOT_CLONES double sum_of_squares(const float* x, std::int64_t n) {
  constexpr int kStrands = 16;
  double strands[kStrands] = {};
  std::int64_t i = 0;
  for (; i + kStrands <= n; i += kStrands) {
    for (int s = 0; s < kStrands; ++s) strands[s] += static_cast<double>(x[i + s]) * x[i + s];
  }
  for (int s = 0; i < n; ++i, ++s) strands[s] += static_cast<double>(x[i]) * x[i];
  double sum = 0;
  for (const double strand : strands) sum += strand;
  return sum;
}

void adam(float* parameter, const float* gradient, float* exp_avg, float* exp_avg_sq, std::int64_t n,
          const AdamStep& step) {
  adam_elements(parameter, gradient, exp_avg, exp_avg_sq, n, constants(step));
}

LEROBOT_CLONES void move_average(float* average, const float* x, float weight, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) average[i] -= (average[i] - x[i]) * weight;
}

}  // namespace lerobot::kernels
