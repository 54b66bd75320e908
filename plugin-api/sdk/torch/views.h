// Borrowed views as torch tensors, without a copy.
#pragma once

#include <ATen/core/Tensor.h>
#include <lerobot_accel.h>

#include <initializer_list>
#include <vector>

namespace lerobot::sdk {

/// The tensor that a view describes, on the same memory, which it does not own.
/// Throws LRA_INVALID_ARGUMENT, naming `name`, for a view that is not on `device` or whose dtype is not among `dtypes`.
at::Tensor view_tensor(const lra_tensor_view* view, c10::Device device, std::initializer_list<at::ScalarType> dtypes,
                       const char* name);

/// The same for a single cell: one element of `dtype`.
at::Tensor view_cell(const lra_tensor_view* view, c10::Device device, at::ScalarType dtype, const char* name);

/// The same for an array of views.
std::vector<at::Tensor> view_tensors(const lra_tensor_view* views, std::uint64_t count, c10::Device device,
                                     std::initializer_list<at::ScalarType> dtypes, const char* name);

}  // namespace lerobot::sdk
