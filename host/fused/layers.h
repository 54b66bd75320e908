#pragma once

#include <ATen/core/Tensor.h>

#include <array>

#include "host/kernels/dropout.h"

// Steps of a network on the CPU in float32 that torch has as several operators each, with their gradients. One pass
// over the memory does what takes torch three to six, and dropout's masks are made anew in the backward pass, not
// stored. Tensors may have any strides; results are contiguous unless said otherwise.

namespace lerobot::fused {

using kernels::Dropout;

/// x with elements dropped.
at::Tensor drop(const at::Tensor& x, const Dropout& dropout);

/// drop(relu(x w1^T + b1)) w2^T: the output's bias is not added. x (..., D), w1 (F, D), b1 (F), w2 (D', F).
at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& w1, const at::Tensor& b1, const at::Tensor& w2,
                        const Dropout& dropout);

/// layer_norm(skip + drop(x + bias)). skip and x (..., D), bias (D) or undefined, weight and shift (D).
at::Tensor add_norm(const at::Tensor& skip, const at::Tensor& x, const at::Tensor& bias, const at::Tensor& weight,
                    const at::Tensor& shift, double eps, const Dropout& dropout);

/// What attention makes of its three inputs: query wq^T + bq, and so for key and value. query (L, B, D), key and value
/// (S, B, D); weight (3 D, D) and bias (3 D) hold those of query, key and value one after another.
std::array<at::Tensor, 3> in_projection(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                        const at::Tensor& weight, const at::Tensor& bias);

/// drop(softmax(scale * query key^T + mask)). query (N, L, d), key (N, S, d), mask (N, 1, S) or undefined. Returns (N,
/// L, S).
at::Tensor attention_weights(const at::Tensor& query, const at::Tensor& key, const at::Tensor& mask, double scale,
                             const Dropout& dropout);

/// A convolution without bias as one matrix product. x (B, C, H, W), weight (O, C, k, k). Better than torch's direct
/// one on feature maps of a few pixels. The result has channels last.
at::Tensor conv_by_product(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride, std::int64_t padding);

/// relu(x * scale + shift [+ residual]). x and residual (B, C, H, W), scale and shift C numbers without gradient. The
/// result has the memory format of x.
at::Tensor scale_relu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                      const at::Tensor& residual);

}  // namespace lerobot::fused
