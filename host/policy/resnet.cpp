#include "host/policy/resnet.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "host/policy/init.h"

namespace lerobot::policy {

FrozenBatchNorm::FrozenBatchNorm(std::int64_t channels)
    : weight(at::ones({channels})),
      bias(at::zeros({channels})),
      running_mean(at::zeros({channels})),
      running_var(at::ones({channels})) {
  fold();
}

void FrozenBatchNorm::visit(TensorVisitor& visitor) {
  visitor.buffer("weight", weight);
  visitor.buffer("bias", bias);
  visitor.buffer("running_mean", running_mean);
  visitor.buffer("running_var", running_var);
}

void FrozenBatchNorm::fold() {
  const at::Tensor factor = weight * (running_var + 1e-5).rsqrt();
  scale = factor.view({1, -1, 1, 1});
  shift = (bias - running_mean * factor).view({1, -1, 1, 1});
}

at::Tensor frozen_bn(const at::Tensor& x, const FrozenBatchNorm& bn) {
  return at::addcmul(bn.shift, x, bn.scale);
}

ConvBn::ConvBn(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t step)
    : weight(at::empty({out, in, kernel, kernel})), bn(out), stride(step) {
  kaiming_uniform(weight);
}

at::Tensor ConvBn::conv(const at::Tensor& x, Pass& pass) const {
  return pass.conv(x, weight, stride, /*padding=*/weight.size(2) / 2);
}

BasicBlock::BasicBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
    : downsample(in == out && stride == 1 ? std::nullopt : std::optional<ConvBn>(std::in_place, in, out, 1, stride)),
      conv1(in, out, 3, stride),
      conv2(out, out, 3, 1) {}

void BasicBlock::visit(TensorVisitor& visitor) {
  visitor.parameter("conv1.weight", conv1.weight);
  visitor.child("bn1", conv1.bn);
  visitor.parameter("conv2.weight", conv2.weight);
  visitor.child("bn2", conv2.bn);
  if (downsample) {
    visitor.parameter("downsample.0.weight", downsample->weight);
    visitor.child("downsample.1", downsample->bn);
  }
}

at::Tensor BasicBlock::operator()(const at::Tensor& x, Pass& pass) const {
  const at::Tensor shortcut = downsample ? frozen_bn(downsample->conv(x, pass), downsample->bn) : x;
  const at::Tensor y = pass.frozen_bn_relu(conv1.conv(x, pass), conv1.bn);
  return pass.frozen_bn_relu(conv2.conv(y, pass), conv2.bn, shortcut);
}

Stage::Stage(std::int64_t in, std::int64_t out, std::int64_t stride)
    : blocks{BasicBlock(in, out, stride), BasicBlock(out, out, 1)} {}

void Stage::visit(TensorVisitor& visitor) {
  visitor.child("0", blocks[0]);
  visitor.child("1", blocks[1]);
}

at::Tensor Stage::operator()(const at::Tensor& x, Pass& pass) const {
  return blocks[1](blocks[0](x, pass), pass);
}

ResNet18::ResNet18() : conv1(3, 64, 7, 2), stages{{64, 64, 1}, {64, 128, 2}, {128, 256, 2}, {256, kChannels, 2}} {
  const Linear discarded_classifier(kChannels, 1000);
  TensorVisitor convolutions([](const std::string&, at::Tensor& tensor, TensorVisitor::Kind kind) {
    if (kind == TensorVisitor::Kind::kParameter) kaiming_normal_fan_out(tensor);
  });
  visit(convolutions);
}

void ResNet18::visit(TensorVisitor& visitor) {
  visitor.parameter("conv1.weight", conv1.weight);
  visitor.child("bn1", conv1.bn);
  for (std::size_t i = 0; i < stages.size(); ++i) visitor.child("layer" + std::to_string(i + 1), stages[i]);
}

void ResNet18::fold() {
  conv1.bn.fold();
  for (Stage& stage : stages) {
    for (BasicBlock& block : stage.blocks) {
      block.conv1.bn.fold();
      block.conv2.bn.fold();
      if (block.downsample) block.downsample->bn.fold();
    }
  }
}

at::Tensor ResNet18::operator()(const at::Tensor& image, Pass& pass) const {
  at::Tensor x = pass.frozen_bn_relu(conv1.conv(image, pass), conv1.bn);
  x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
  for (const Stage& stage : stages) x = stage(x, pass);
  return x;
}

}  // namespace lerobot::policy
