#include "sdk/torch/views.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <optional>

#include "sdk/structs.h"

namespace lerobot::sdk {
namespace {

std::optional<at::ScalarType> scalar_type(const lra_tensor_view& view) {
  if (view.dtype_lanes != 1) return std::nullopt;
  if (view.dtype_code == LRA_DTYPE_BFLOAT && view.dtype_bits == 16) return at::kBFloat16;
  if (view.dtype_code == LRA_DTYPE_FLOAT && view.dtype_bits == 16) return at::kHalf;
  if (view.dtype_code == LRA_DTYPE_FLOAT && view.dtype_bits == 32) return at::kFloat;
  if (view.dtype_code == LRA_DTYPE_INT && view.dtype_bits == 32) return at::kInt;
  return std::nullopt;
}

[[noreturn]] void refuse(const char* name, const std::string& problem) {
  throw Failure(LRA_INVALID_ARGUMENT, std::string(name) + ": " + problem);
}

at::ScalarType check_dtype(const lra_tensor_view& view, std::initializer_list<at::ScalarType> dtypes,
                           const char* name) {
  const std::optional<at::ScalarType> dtype = scalar_type(view);
  if (!dtype || std::find(dtypes.begin(), dtypes.end(), *dtype) == dtypes.end()) {
    refuse(name, "dtype code " + std::to_string(view.dtype_code) + ", " + std::to_string(view.dtype_bits) + " bits, " +
                     std::to_string(view.dtype_lanes) + " lanes is not one this function takes");
  }
  return *dtype;
}

void check_place(const lra_tensor_view& view, c10::Device device, const char* name) {
  if (view.torch_type != static_cast<std::int32_t>(device.type()) || view.torch_index != device.index()) {
    refuse(name, "on device (" + std::to_string(view.torch_type) + ", " + std::to_string(view.torch_index) +
                     "), needed " + device.str());
  }
}

void check_shape(const lra_tensor_view& view, std::size_t item_size, const char* name) {
  if (view.ndim > LRA_MAX_DIMS) refuse(name, std::to_string(view.ndim) + " dimensions, at most 8 are possible");
  std::int64_t elements = 1;
  for (std::uint32_t i = 0; i < view.ndim; ++i) {
    if (view.shape[i] < 0 || view.strides[i] < 0) refuse(name, "a negative size or stride");
    if (__builtin_mul_overflow(elements, view.shape[i], &elements)) refuse(name, "more elements than memory can hold");
  }
  if (elements != 0 && view.base == nullptr) refuse(name, "base is null");
  if (view.byte_offset % item_size != 0) refuse(name, "byte_offset is no multiple of the element size");
}

}  // namespace

at::Tensor view_tensor(const lra_tensor_view* pointer, c10::Device device, std::initializer_list<at::ScalarType> dtypes,
                       const char* name) {
  const lra_tensor_view view = read_args(pointer, name);
  check_reserved(view.reserved, "lra_tensor_view.reserved");
  const at::ScalarType dtype = check_dtype(view, dtypes, name);
  const std::size_t item_size = c10::elementSize(dtype);
  check_place(view, device, name);
  check_shape(view, item_size, name);
  return at::for_blob(view.base, at::IntArrayRef(view.shape, view.ndim))
      .strides(at::IntArrayRef(view.strides, view.ndim))
      .storage_offset(static_cast<std::int64_t>(view.byte_offset / item_size))
      .options(at::TensorOptions(dtype).device(device))
      .target_device(device)
      .make_tensor();
}

at::Tensor view_cell(const lra_tensor_view* view, c10::Device device, at::ScalarType dtype, const char* name) {
  at::Tensor cell = view_tensor(view, device, {dtype}, name);
  if (cell.numel() != 1) refuse(name, std::to_string(cell.numel()) + " elements, needed one");
  return cell;
}

std::vector<at::Tensor> view_tensors(const lra_tensor_view* views, std::uint64_t count, c10::Device device,
                                     std::initializer_list<at::ScalarType> dtypes, const char* name) {
  std::vector<at::Tensor> tensors;
  if (count == 0) return tensors;
  check_array(views, name);
  tensors.reserve(count);
  const char* element = reinterpret_cast<const char*>(views);
  for (std::uint64_t i = 0; i < count; ++i, element += views->struct_size) {
    tensors.push_back(view_tensor(reinterpret_cast<const lra_tensor_view*>(element), device, dtypes, name));
  }
  return tensors;
}

}  // namespace lerobot::sdk
