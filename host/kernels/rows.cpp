#include "host/kernels/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "host/base/clones.h"

namespace lerobot::kernels {
namespace {

/// Sums run in so many strands, so that they vectorize and come out the same on every processor.
constexpr int kStrands = 16;

/// The factors of one row after another; all 1 without dropout.
class Factors {
 public:
  Factors(const Dropout& dropout, std::int64_t width)
      : dropout_(dropout), width_(width), factors_(padded_width(width), 1.0F) {}

  const float* row(std::int64_t row) {
    if (dropout_.threshold > 0) dropout_factors(dropout_, row, width_, factors_.data());
    return factors_.data();
  }

 private:
  Dropout dropout_;
  std::int64_t width_;
  std::vector<float> factors_;
};

/// The sum of term(i) for i in [0, width).
template <class Term>
LEROBOT_INLINE float sum_of(std::int64_t width, const Term& term) {
  float strands[kStrands] = {};
  std::int64_t i = 0;
  for (; i + kStrands <= width; i += kStrands) {
    for (int s = 0; s < kStrands; ++s) strands[s] += term(i + s);
  }
  for (int s = 0; i < width; ++i, ++s) strands[s] += term(i);
  for (int half = kStrands / 2; half > 0; half /= 2) {
    for (int s = 0; s < half; ++s) strands[s] += strands[s + half];
  }
  return strands[0];
}

LEROBOT_INLINE float largest(const float* x, std::int64_t width) {
  float strands[kStrands];
  std::fill(strands, strands + kStrands, -std::numeric_limits<float>::infinity());
  std::int64_t i = 0;
  for (; i + kStrands <= width; i += kStrands) {
    for (int s = 0; s < kStrands; ++s) strands[s] = x[i + s] > strands[s] ? x[i + s] : strands[s];
  }
  for (int s = 0; i < width; ++i, ++s) strands[s] = x[i] > strands[s] ? x[i] : strands[s];
  return *std::max_element(strands, strands + kStrands);
}

/// e^x for x <= 0, within 2 units in the last place; 0 below -87. x = n ln 2 + r with |r| <= ln 2 / 2, and e^r by its
/// Taylor polynomial of degree 7.
LEROBOT_INLINE float exp_of_negative(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;  // ln 2 in two parts, the first with few bits
  constexpr float kRound = 12582912.0F;                                // 1.5 * 2^23: adding it rounds to an integer
  const float bounded = x < -87.0F ? -87.0F : x;  // comparisons here and below are such that NaN stays NaN
  const float shifted = bounded * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const float power = std::bit_cast<float>((exponent + 127) << 23);
  return x < -87.0F ? 0.0F : p * power;
}

LEROBOT_CLONES void multiply(const float* x, const float* factors, float* y, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * factors[i];
}

LEROBOT_CLONES void bias_relu_row(float* x, const float* bias, const float* factors, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    const float v = x[i] + bias[i];
    x[i] = (v < 0 ? 0.0F : v) * factors[i];
  }
}

LEROBOT_CLONES void bias_relu_backward_row(float* gradient, const float* y, float* bias_gradient, float scale,
                                           std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    const float g = y[i] <= 0 ? 0.0F : gradient[i] * scale;
    gradient[i] = g;
    bias_gradient[i] += g;
  }
}

LEROBOT_CLONES void add_row(const float* skip, const float* x, const float* factors, float* sum, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) sum[i] = skip[i] + x[i] * factors[i];
}

LEROBOT_CLONES void add_bias_row(const float* skip, const float* x, const float* bias, const float* factors, float* sum,
                                 std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) sum[i] = skip[i] + (x[i] + bias[i]) * factors[i];
}

/// y <- the normalized row. Returns mean and 1 / deviation.
LEROBOT_CLONES void norm_row(const float* x, const float* weight, const float* shift, float eps, float* y, float* mean,
                             float* reciprocal_deviation, std::int64_t width) {
  const float n = static_cast<float>(width);
  const float m = sum_of(width, [x](std::int64_t i) { return x[i]; }) / n;
  const float variance = sum_of(width, [x, m](std::int64_t i) { return (x[i] - m) * (x[i] - m); }) / n;
  const float r = 1.0F / std::sqrt(variance + eps);
  for (std::int64_t i = 0; i < width; ++i) y[i] = (x[i] - m) * r * weight[i] + shift[i];
  *mean = m;
  *reciprocal_deviation = r;
}

LEROBOT_CLONES void norm_backward_row(const float* gradient, const float* x, float mean, float reciprocal_deviation,
                                      const float* weight, float* x_gradient, float* weight_gradient,
                                      float* shift_gradient, std::int64_t width) {
  const float n = static_cast<float>(width), r = reciprocal_deviation;
  const float sum = sum_of(width, [=](std::int64_t i) { return gradient[i] * weight[i]; });
  const float product = sum_of(width, [=](std::int64_t i) { return gradient[i] * weight[i] * ((x[i] - mean) * r); });
  const float a = sum / n, b = product / n;
  for (std::int64_t i = 0; i < width; ++i) {
    const float normalized = (x[i] - mean) * r;
    x_gradient[i] = (gradient[i] * weight[i] - a - normalized * b) * r;
    weight_gradient[i] += gradient[i] * normalized;
    shift_gradient[i] += gradient[i];
  }
}

LEROBOT_CLONES void add_to(float* total, const float* x, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) total[i] += x[i];
}

LEROBOT_CLONES void softmax_row(float* x, const float* mask, const float* factors, float scale, float* dropped,
                                std::int64_t width) {
  if (mask != nullptr) {
    for (std::int64_t i = 0; i < width; ++i) x[i] = x[i] * scale + mask[i];
  } else {
    for (std::int64_t i = 0; i < width; ++i) x[i] *= scale;
  }
  const float top = largest(x, width);
  for (std::int64_t i = 0; i < width; ++i) x[i] = exp_of_negative(x[i] - top);
  const float reciprocal = 1.0F / sum_of(width, [x](std::int64_t i) { return x[i]; });
  for (std::int64_t i = 0; i < width; ++i) {
    x[i] *= reciprocal;
    dropped[i] = x[i] * factors[i];
  }
}

LEROBOT_CLONES void softmax_backward_row(const float* gradient, const float* probabilities, const float* factors,
                                         float scale, float* score_gradient, std::int64_t width) {
  const float sum = sum_of(width, [=](std::int64_t i) { return gradient[i] * factors[i] * probabilities[i]; });
  for (std::int64_t i = 0; i < width; ++i)
    score_gradient[i] = probabilities[i] * (gradient[i] * factors[i] - sum) * scale;
}

}  // namespace

void drop(const float* x, float* y, const Rows& rows, const Dropout& dropout) {
  Factors factors(dropout, rows.width);
  for (std::int64_t r = rows.begin; r < rows.end; ++r)
    multiply(x + r * rows.width, factors.row(r), y + r * rows.width, rows.width);
}

void bias_relu_drop(float* x, const float* bias, const Rows& rows, const Dropout& dropout) {
  Factors factors(dropout, rows.width);
  for (std::int64_t r = rows.begin; r < rows.end; ++r)
    bias_relu_row(x + r * rows.width, bias, factors.row(r), rows.width);
}

void bias_relu_drop_backward(float* gradient, const float* y, float* bias_gradient, const Rows& rows, float scale) {
  for (std::int64_t r = rows.begin; r < rows.end; ++r)
    bias_relu_backward_row(gradient + r * rows.width, y + r * rows.width, bias_gradient, scale, rows.width);
}

void sum_rows(const float* x, float* sums, const Rows& rows) {
  for (std::int64_t r = rows.begin; r < rows.end; ++r) add_to(sums, x + r * rows.width, rows.width);
}

void add_norm(const float* skip, const float* x, const float* bias, const float* weight, const float* shift, float eps,
              float* sum, float* y, const RowMoments& moments, const Rows& rows, const Dropout& dropout) {
  Factors factors(dropout, rows.width);
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const std::int64_t at = r * rows.width;
    if (bias != nullptr) {
      add_bias_row(skip + at, x + at, bias, factors.row(r), sum + at, rows.width);
    } else {
      add_row(skip + at, x + at, factors.row(r), sum + at, rows.width);
    }
    norm_row(sum + at, weight, shift, eps, y + at, moments.mean + r, moments.reciprocal_deviation + r, rows.width);
  }
}

void add_norm_backward(const float* gradient, const float* sum, const RowMoments& moments, const float* weight,
                       float* skip_gradient, float* x_gradient, float* weight_gradient, float* shift_gradient,
                       float* bias_gradient, const Rows& rows, const Dropout& dropout) {
  Factors factors(dropout, rows.width);
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const std::int64_t at = r * rows.width;
    norm_backward_row(gradient + at, sum + at, moments.mean[r], moments.reciprocal_deviation[r], weight,
                      skip_gradient + at, weight_gradient, shift_gradient, rows.width);
    multiply(skip_gradient + at, factors.row(r), x_gradient + at, rows.width);
    if (bias_gradient != nullptr) add_to(bias_gradient, x_gradient + at, rows.width);
  }
}

void softmax_drop(float* scores, float* dropped, float scale, const float* mask, std::int64_t rows_of_a_mask,
                  const Rows& rows, const Dropout& dropout) {
  Factors factors(dropout, rows.width);
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const std::int64_t at = r * rows.width;
    const float* mask_row = mask == nullptr ? nullptr : mask + r / rows_of_a_mask * rows.width;
    softmax_row(scores + at, mask_row, factors.row(r), scale, dropped + at, rows.width);
  }
}

void softmax_drop_backward(const float* gradient, const float* probabilities, float* score_gradient, float scale,
                           const Rows& rows, const Dropout& dropout) {
  Factors factors(dropout, rows.width);
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const std::int64_t at = r * rows.width;
    softmax_backward_row(gradient + at, probabilities + at, factors.row(r), scale, score_gradient + at, rows.width);
  }
}

}  // namespace lerobot::kernels
