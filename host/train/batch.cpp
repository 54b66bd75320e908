#include "host/train/batch.h"

#include <ATen/ops/from_blob.h>

#include "host/policy/tensor_io.h"

namespace lerobot::train {
namespace {

at::Tensor to_tensor(const data::Buffer& buffer) {
  return at::from_blob(
      buffer.data.get(), buffer.shape, [keep = buffer.data](void*) {},
      at::TensorOptions().dtype(policy::scalar_type(buffer.dtype)));
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

}  // namespace

policy::Batch to_tensors(const data::Batch& batch, const at::Device& device,
                         const OrderedMap<std::string>& rename_map) {
  policy::Batch tensors;
  for (const auto& [key, buffer] : batch.tensors) {
    at::Tensor tensor = to_tensor(buffer).to(device, /*non_blocking=*/!device.is_cpu());
    // Only cameras are stored as bytes; division after the transfer moves a quarter of the memory.
    if (buffer.dtype == DType::kUInt8) tensor = tensor.to(at::kFloat).div_(255.0);
    tensors[renamed(key, rename_map)] = std::move(tensor);
  }
  return tensors;
}

}  // namespace lerobot::train
