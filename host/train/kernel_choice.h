#pragma once

#include <c10/core/Device.h>

#include <string>
#include <string_view>

#include "host/accel/accelerator.h"
#include "host/fused/kernels.h"

namespace lerobot::train {

struct KernelChoice {
  Kernels kernels;
  std::string reason;  ///< for the log
};

/// What --kernels=`asked` (auto, fast or reference) means for a run on the device in the precision. Throws
/// Error(kUsage) where fast was asked for and cannot be.
KernelChoice choose_kernels(std::string_view asked, const c10::Device& device, accel::Precision precision);

}  // namespace lerobot::train
