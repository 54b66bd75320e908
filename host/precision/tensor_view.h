#pragma once

#include <ATen/core/Tensor.h>

#include "host/accel/accelerator.h"

namespace lerobot::precision {

/// The tensor as the contract lends it to a plugin, without a copy; valid while the tensor lives. At most
/// LRA_MAX_DIMS dimensions, a floating type of 16 or 32 bits or int32; else Error(kInternal).
accel::TensorView view_of(const at::Tensor& tensor);

}  // namespace lerobot::precision
