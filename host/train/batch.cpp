#include "host/train/batch.h"

#include <ATen/ops/from_blob.h>

#include "host/checkpoint/tensor_file.h"

namespace lerobot::train {
namespace {

at::Tensor to_tensor(const data::Buffer& buffer) {
  const auto options = at::TensorOptions().dtype(checkpoint::scalar_type(buffer.dtype));
  // The deleter's only work is to hold the buffer until the tensor is gone.
  at::Tensor tensor = at::from_blob(
      buffer.data.get(), buffer.shape, [keep = buffer.data](void*) {}, options);
  return buffer.dtype == DType::kFloat64 ? tensor.to(at::kFloat) : tensor;
}

}  // namespace

bool is_for_policies(const std::string& key) {
  return key.starts_with("observation") || key.starts_with("action");
}

std::string renamed(const std::string& key, const OrderedMap<std::string>& rename_map) {
  constexpr std::string_view kPad = "_is_pad";
  if (const std::string* to = rename_map.find(key)) return *to;
  if (key.ends_with(kPad)) {
    if (const std::string* to = rename_map.find(key.substr(0, key.size() - kPad.size())))
      return *to + std::string(kPad);
  }
  return key;
}

policy::Batch to_tensors(const data::Batch& batch, const at::Device& device,
                         const OrderedMap<std::string>& rename_map) {
  policy::Batch tensors;
  for (const auto& [key, buffer] : batch.tensors) {
    const std::string name = renamed(key, rename_map);
    if (!is_for_policies(name)) continue;
    at::Tensor tensor = to_tensor(buffer).to(device, /*non_blocking=*/!device.is_cpu());
    // Only cameras are stored as bytes; dividing after the transfer moves a quarter of the memory.
    if (buffer.dtype == DType::kUInt8) tensor = tensor.to(at::kFloat).div_(255.0);
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

}  // namespace lerobot::train
