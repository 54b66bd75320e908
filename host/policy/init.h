#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

// The initializers of torch.nn.init, bit for bit: bounds computed in the same order in double precision, numbers drawn
// from the global CPU generator.

namespace lerobot::policy {

/// The default of torch.nn.Linear and Conv: uniform within +-sqrt(3) * sqrt(2 / (1 + 5)) / sqrt(fan_in).
/// fan_in = elements of weight[0].
void kaiming_uniform(at::Tensor& weight);
/// The default bias of Linear and Conv: uniform within +-1 / sqrt(fan_in of the weight).
void fan_in_uniform(at::Tensor& bias, const at::Tensor& weight);
/// Normal with deviation sqrt(2 / fan_out), fan_out = weight.size(0) * kernel elements (He et al. 2015, for ReLU).
void kaiming_normal_fan_out(at::Tensor& weight);
/// Uniform within +-sqrt(3) * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010).
void xavier_uniform(at::Tensor& weight);

}  // namespace lerobot::policy
