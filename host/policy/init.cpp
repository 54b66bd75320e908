#include "host/policy/init.h"

#include <cmath>

namespace lerobot::policy {
namespace {

// Elements of the kernel: 1 for a matrix.
std::int64_t receptive_field(const at::Tensor& weight) {
  return weight.numel() / (weight.size(0) * weight.size(1));
}
std::int64_t fan_in(const at::Tensor& weight) {
  return weight.size(1) * receptive_field(weight);
}
std::int64_t fan_out(const at::Tensor& weight) {
  return weight.size(0) * receptive_field(weight);
}

}  // namespace

void kaiming_uniform(at::Tensor& weight) {
  const double gain = std::sqrt(2.0 / (1.0 + std::pow(std::sqrt(5.0), 2.0)));
  const double bound = std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(fan_in(weight))));
  weight.uniform_(-bound, bound);
}

void fan_in_uniform(at::Tensor& bias, const at::Tensor& weight) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
  bias.uniform_(-bound, bound);
}

void kaiming_normal_fan_out(at::Tensor& weight) {
  weight.normal_(0.0, std::sqrt(2.0) / std::sqrt(static_cast<double>(fan_out(weight))));
}

void xavier_uniform(at::Tensor& weight) {
  const double deviation = std::sqrt(2.0 / static_cast<double>(fan_in(weight) + fan_out(weight)));
  const double bound = std::sqrt(3.0) * deviation;
  weight.uniform_(-bound, bound);
}

}  // namespace lerobot::policy
