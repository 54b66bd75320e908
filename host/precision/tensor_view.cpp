#include "host/precision/tensor_view.h"

#include "host/base/error.h"

namespace lerobot::precision {
namespace {

std::uint8_t dtype_code(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
    case at::kHalf:
      return LRA_DTYPE_FLOAT;
    case at::kBFloat16:
      return LRA_DTYPE_BFLOAT;
    case at::kInt:
      return LRA_DTYPE_INT;
    default:
      fail(ErrorKind::kInternal, "a {} tensor cannot be lent to a plugin", c10::toString(tensor.scalar_type()));
  }
}

}  // namespace

accel::TensorView view_of(const at::Tensor& tensor) {
  if (tensor.dim() > LRA_MAX_DIMS) {
    fail(ErrorKind::kInternal, "a tensor of {} dimensions cannot be lent to a plugin, {} are possible", tensor.dim(),
         LRA_MAX_DIMS);
  }
  accel::TensorView view{};
  view.struct_size = sizeof view;
  view.torch_type = static_cast<std::int32_t>(tensor.device().type());
  view.torch_index = tensor.device().index();
  view.dtype_code = dtype_code(tensor);
  view.dtype_bits = static_cast<std::uint8_t>(tensor.element_size() * 8);
  view.dtype_lanes = 1;
  view.ndim = static_cast<std::uint32_t>(tensor.dim());
  view.base = const_cast<void*>(tensor.storage().data());
  view.byte_offset = static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.element_size();
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    view.shape[i] = tensor.size(i);
    view.strides[i] = tensor.stride(i);
  }
  return view;
}

}  // namespace lerobot::precision
