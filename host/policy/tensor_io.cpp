#include "host/policy/tensor_io.h"

#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <cstring>
#include <utility>

#include "host/base/error.h"

namespace lerobot::policy {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 10> kTypes{{{DType::kBool, at::kBool},
                                                                   {DType::kUInt8, at::kByte},
                                                                   {DType::kInt8, at::kChar},
                                                                   {DType::kInt16, at::kShort},
                                                                   {DType::kInt32, at::kInt},
                                                                   {DType::kInt64, at::kLong},
                                                                   {DType::kFloat16, at::kHalf},
                                                                   {DType::kBFloat16, at::kBFloat16},
                                                                   {DType::kFloat32, at::kFloat},
                                                                   {DType::kFloat64, at::kDouble}}};

DType dtype_of(const std::string& name, at::ScalarType type) {
  for (const auto& [ours, torchs] : kTypes) {
    if (torchs == type) return ours;
  }
  fail(ErrorKind::kInternal, "{}: found element type {}, which a safetensors file cannot hold", name,
       c10::toString(type));
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  for (const auto& [ours, torchs] : kTypes) {
    if (ours == dtype) return torchs;
  }
  fail(ErrorKind::kInternal, "safetensors type {}: no torch type for it", static_cast<int>(dtype));
}

at::Tensor to_tensor(const TensorView& view) {
  at::Tensor tensor = at::empty(view.shape, scalar_type(view.dtype));
  if (view.bytes > 0) std::memcpy(tensor.mutable_data_ptr(), view.data, view.bytes);
  return tensor;
}

OrderedMap<at::Tensor> to_tensors(const SafetensorsFile& file) {
  OrderedMap<at::Tensor> tensors;
  for (const auto& [name, view] : file.tensors()) tensors.append(name, to_tensor(view));
  return tensors;
}

HostTensors::HostTensors(const OrderedMap<at::Tensor>& tensors) {
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
    views_.append(name, {dtype_of(name, host.scalar_type()), host.sizes().vec(),
                         static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()});
    tensors_.append(name, host);
  }
}

}  // namespace lerobot::policy
