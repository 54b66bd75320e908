#include "host/checkpoint/pth_tensors.h"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>

#include <cstring>

#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {

at::Tensor PthTensors::get(const pickle::Tensor& tensor, std::string_view name) {
  const Bytes bytes = file_.storage(tensor, name);
  at::Tensor& storage = storages_[{tensor.storage.key, tensor.storage.dtype}];
  if (!storage.defined()) {
    storage =
        at::empty({tensor.storage.elements}, at::TensorOptions(scalar_type(tensor.storage.dtype)).device(at::kCPU));
    if (!bytes.empty()) std::memcpy(storage.mutable_data_ptr(), bytes.data(), bytes.size());
  }
  return at::as_strided(storage, tensor.shape, tensor.strides, tensor.offset);
}

}  // namespace lerobot::checkpoint
