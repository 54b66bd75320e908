#include "host/checkpoint/tensor_file.h"

#include <ATen/ops/empty.h>

#include <array>
#include <cstring>
#include <utility>

namespace lerobot::checkpoint {
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

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  for (const auto& [file, torch] : kTypes) {
    if (file == dtype) return torch;
  }
  fail(ErrorKind::kInternal, "no torch dtype for {}", safetensors_name(dtype));
}

DType file_type(std::string_view name, at::ScalarType type) {
  for (const auto& [file, torch] : kTypes) {
    if (torch == type) return file;
  }
  fail(ErrorKind::kInternal, "tensor {}: dtype {} cannot be saved", name, c10::toString(type));
}

Tensors read_tensors(const std::filesystem::path& path) {
  const SafetensorsFile file(path, ErrorKind::kCheckpoint);
  Tensors out;
  for (const auto& [name, view] : file.tensors()) {
    at::Tensor tensor = at::empty(view.shape, at::TensorOptions(scalar_type(view.dtype)).device(at::kCPU));
    if (view.bytes > 0) std::memcpy(tensor.mutable_data_ptr(), view.data, view.bytes);
    out.append(name, std::move(tensor));
  }
  return out;
}

void write_tensors(const std::filesystem::path& path, const Tensors& tensors, const OrderedMap<std::string>& metadata) {
  DurableFile file(path, kSafetensorsMode);
  write_tensors(file, tensors, metadata);
  file.finish();
}

void write_tensors(DurableFile& file, const Tensors& tensors, const OrderedMap<std::string>& metadata) {
  std::vector<at::Tensor> kept;  // what the views point into
  kept.reserve(tensors.size());
  OrderedMap<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor& here = kept.emplace_back(on_host(tensor));
    views.append(name, {.dtype = file_type(name, here.scalar_type()),
                        .shape = here.sizes().vec(),
                        .data = static_cast<const std::byte*>(here.const_data_ptr()),
                        .bytes = here.nbytes()});
  }
  write_safetensors(file, views, metadata);
}

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU).contiguous();
}

std::uint64_t total_bytes(const Tensors& tensors) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += tensor.nbytes();
  return bytes;
}

}  // namespace lerobot::checkpoint
