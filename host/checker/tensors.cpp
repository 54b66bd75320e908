// The one exported symbol of liblerobot_checker.so: torch's tensors behind a class that needs no torch to use.
#include "host/checker/tensors.h"

#include <ATen/core/Generator.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/softmax.h>

#include <stdexcept>

namespace lerobot::checker {
namespace {

at::ScalarType scalar_type(Type type) {
  switch (type) {
    case Type::kFloat16:
      return at::kHalf;
    case Type::kBFloat16:
      return at::kBFloat16;
    case Type::kInt32:
      return at::kInt;
    default:
      return at::kFloat;
  }
}

Type type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return Type::kFloat32;
    case at::kHalf:
      return Type::kFloat16;
    case at::kBFloat16:
      return Type::kBFloat16;
    case at::kInt:
      return Type::kInt32;
    default:
      return Type::kOther;
  }
}

std::vector<float> read(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).to(at::kFloat).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

class TorchTensor : public Tensor {
 public:
  TorchTensor(at::Tensor tensor, c10::Device device) : tensor_(std::move(tensor)), device_(device) {}

  lra_tensor_view view() const override {
    lra_tensor_view view{};
    view.struct_size = sizeof view;
    view.torch_type = static_cast<std::int32_t>(device_.type());
    view.torch_index = device_.index();
    const at::ScalarType type = tensor_.scalar_type();
    view.dtype_code = type == at::kBFloat16 ? LRA_DTYPE_BFLOAT : type == at::kInt ? LRA_DTYPE_INT : LRA_DTYPE_FLOAT;
    view.dtype_bits = static_cast<std::uint8_t>(tensor_.element_size() * 8);
    view.dtype_lanes = 1;
    view.ndim = static_cast<std::uint32_t>(tensor_.dim());
    view.base = const_cast<void*>(tensor_.storage().data());
    view.byte_offset = static_cast<std::uint64_t>(tensor_.storage_offset()) * tensor_.element_size();
    for (std::int64_t i = 0; i < tensor_.dim(); ++i) {
      view.shape[i] = tensor_.size(i);
      view.strides[i] = tensor_.stride(i);
    }
    return view;
  }

  std::vector<float> values() const override { return read(tensor_); }

  std::unique_ptr<Tensor> strided(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                                  std::int64_t offset) const override {
    return std::make_unique<TorchTensor>(tensor_.as_strided(shape, strides, offset), device_);
  }

 private:
  at::Tensor tensor_;
  c10::Device device_;
};

class TorchTensors : public Tensors {
 public:
  explicit TorchTensors(const std::string& device)
      : device_(device), options_(at::TensorOptions(at::kFloat).device(device_)) {}

  std::unique_ptr<Tensor> make(Type type, const std::vector<std::int64_t>& shape,
                               const std::vector<float>& values) override {
    return std::make_unique<TorchTensor>(place(host(values), type).reshape(shape), device_);
  }

  std::vector<float> rounded(Type type, const std::vector<float>& values) override {
    return read(host(values).to(scalar_type(type)));
  }

  Type result_type(Operator what, Type low) override {
    const at::Tensor a = at::ones({4, 4}, options_);
    const at::Tensor cube = at::ones({2, 4, 4}, options_);
    const at::Tensor image = at::ones({1, 2, 4, 4}, options_);
    switch (what) {
      case Operator::kMm:
        return type_of(at::mm(a, a));
      case Operator::kBmm:
        return type_of(at::bmm(cube, cube));
      case Operator::kAddmm:
        return type_of(at::addmm(a, a, a));
      case Operator::kLinear:
        return type_of(at::linear(a, a));
      case Operator::kMatmul:
        return type_of(at::matmul(cube, a));
      case Operator::kConv2d:
        return type_of(at::conv2d(image, image));
      case Operator::kSoftmax:
        return type_of(at::softmax(a, -1));
      case Operator::kLayerNorm:
        return type_of(at::layer_norm(a, {4}));
      case Operator::kSum:
        return type_of(a.sum());
      case Operator::kAddToLow:
        return type_of(at::add(a, a.to(scalar_type(low))));
    }
    return Type::kOther;
  }

  std::vector<float> product_with_weight() override { return read(at::mm(at::ones({4, 4}, options_), weight())); }

  void scale_weight(float factor) override {
    const at::NoGradGuard no_grad;
    weight().mul_(factor);
  }

  std::vector<float> random(std::int64_t count) override { return read(at::rand({count}, options_)); }

  std::vector<float> product(std::int64_t size, const std::vector<float>& a, const std::vector<float>& b) override {
    const auto matrix = [&](const std::vector<float>& values) {
      return place(host(values), Type::kFloat32).reshape({size, size});
    };
    return read(at::mm(matrix(a), matrix(b)));
  }

  std::unique_ptr<Tensor> reserve(std::int64_t bytes) override {
    return std::make_unique<TorchTensor>(at::empty({bytes}, options_.dtype(at::kByte)), device_);
  }

 private:
  static at::Tensor host(const std::vector<float>& values) {
    return at::from_blob(const_cast<float*>(values.data()), {static_cast<std::int64_t>(values.size())},
                         at::TensorOptions(at::kFloat));
  }

  /// Converted on the processor, then moved: the device itself converts nothing.
  at::Tensor place(const at::Tensor& values, Type type) const {
    return values.to(at::kCPU, scalar_type(type), /*non_blocking=*/false, /*copy=*/true).to(device_);
  }

  /// torch caches the casts of leaves that need gradients.
  at::Tensor& weight() {
    if (!weight_.defined()) weight_ = at::ones({4, 4}, options_).requires_grad_(true);
    return weight_;
  }

  c10::Device device_;
  at::TensorOptions options_;
  at::Tensor weight_;
};

TorchDevice parse(const std::string& torch_device) {
  const c10::Device device(torch_device);
  return {static_cast<std::int32_t>(device.type()), device.index(),
          c10::DeviceTypeName(device.type(), /*lower_case=*/true)};
}

std::unique_ptr<Tensors> open(const std::string& torch_device) {
  return std::make_unique<TorchTensors>(torch_device);
}

}  // namespace
}  // namespace lerobot::checker

extern "C" __attribute__((visibility("default"))) const lerobot::checker::Checker* lerobot_checker() {
  static const lerobot::checker::Checker checker{lerobot::checker::parse, lerobot::checker::open};
  return &checker;
}
