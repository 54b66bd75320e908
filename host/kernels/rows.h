#pragma once

#include <cstdint>

#include "host/kernels/dropout.h"

// Loops over rows of matrices, each row `width` floats without gaps. A call works on the rows [begin, end) of the whole
// matrix whose first element it is given, so that a caller can share the rows out among threads.

namespace lerobot::kernels {

struct Rows {
  std::int64_t begin, end, width;
};

/// x: multiplied by the dropout's factors into y; x and y may be the same.
void drop(const float* x, float* y, const Rows& rows, const Dropout& dropout);

/// x <- drop(relu(x + bias)). bias: (width).
void bias_relu_drop(float* x, const float* bias, const Rows& rows, const Dropout& dropout);

/// The gradient through drop(relu(.)), in place: gradient * scale where y > 0, y being what bias_relu_drop made, and 0
/// elsewhere. Adds its rows to bias_gradient (width).
void bias_relu_drop_backward(float* gradient, const float* y, float* bias_gradient, const Rows& rows, float scale);

/// Adds the rows up: to sums (width).
void sum_rows(const float* x, float* sums, const Rows& rows);

/// What add_norm keeps for its backward pass: two numbers for each row.
struct RowMoments {
  float* mean;
  float* reciprocal_deviation;
};

/// sum <- skip + drop(x + bias); y <- (sum - mean) / deviation * weight + shift, where the variance gets eps added.
/// bias may be null.
void add_norm(const float* skip, const float* x, const float* bias, const float* weight, const float* shift, float eps,
              float* sum, float* y, const RowMoments& moments, const Rows& rows, const Dropout& dropout);

/// The gradients of add_norm: of skip, of x, and added up over the rows of weight, shift and bias (null: not wanted).
void add_norm_backward(const float* gradient, const float* sum, const RowMoments& moments, const float* weight,
                       float* skip_gradient, float* x_gradient, float* weight_gradient, float* shift_gradient,
                       float* bias_gradient, const Rows& rows, const Dropout& dropout);

/// The scores of attention: probabilities <- softmax(scores * scale + mask) in place, dropped <- drop(probabilities).
/// mask: null, or one row of `width` for each `rows_of_a_mask` rows.
void softmax_drop(float* scores, float* dropped, float scale, const float* mask, std::int64_t rows_of_a_mask,
                  const Rows& rows, const Dropout& dropout);

/// The gradient of the unscaled scores from that of `dropped`.
void softmax_drop_backward(const float* gradient, const float* probabilities, float* score_gradient, float scale,
                           const Rows& rows, const Dropout& dropout);

}  // namespace lerobot::kernels
