#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/grad_mode.h>

#include "host/optim/optimizer.h"

namespace lerobot::optim {

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

at::Tensor clip_grad_norm(const std::vector<at::Tensor>& parameters, double max_norm) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return at::zeros({}, at::kFloat);
  const at::Tensor norm = at::stack(at::_foreach_norm(gradients)).norm();
  const at::Tensor factor = (max_norm * (norm + 1e-6).reciprocal()).clamp_max(1.0);
  // Reading costs nothing on the CPU, and a product with 1 can be spared. (NaN is multiplied, as Python does.)
  if (factor.is_cpu() && factor.item<double>() == 1.0) return norm;
  at::_foreach_mul_(gradients, factor);
  return norm;
}

}  // namespace lerobot::optim
