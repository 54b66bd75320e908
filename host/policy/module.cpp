#include "host/policy/module.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "host/policy/init.h"

namespace lerobot::policy {

Linear::Linear(std::int64_t in, std::int64_t out) : weight(at::empty({out, in})), bias(at::empty({out})) {
  kaiming_uniform(weight);
  fan_in_uniform(bias, weight);
}

void Linear::visit(TensorVisitor& visitor) {
  visitor.parameter("weight", weight);
  visitor.parameter("bias", bias);
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(x, weight, bias);
}

Embedding::Embedding(std::int64_t rows, std::int64_t width) : weight(at::empty({rows, width})) {
  weight.normal_();
}

void Embedding::visit(TensorVisitor& visitor) {
  visitor.parameter("weight", weight);
}

LayerNorm::LayerNorm(std::int64_t width) : weight(at::ones({width})), bias(at::zeros({width})) {}

void LayerNorm::visit(TensorVisitor& visitor) {
  visitor.parameter("weight", weight);
  visitor.parameter("bias", bias);
}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, kEps);
}

PointwiseConv2d::PointwiseConv2d(std::int64_t in, std::int64_t out)
    : weight(at::empty({out, in, 1, 1})), bias(at::empty({out})) {
  kaiming_uniform(weight);
  fan_in_uniform(bias, weight);
}

void PointwiseConv2d::visit(TensorVisitor& visitor) {
  visitor.parameter("weight", weight);
  visitor.parameter("bias", bias);
}

at::Tensor PointwiseConv2d::operator()(const at::Tensor& x) const {
  return at::conv2d(x, weight, bias);
}

}  // namespace lerobot::policy
