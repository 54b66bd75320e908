// The three variables that hide AMD's devices.
#pragma once

#include <string>

#include "sdk/driver.h"

namespace lerobot::plugins::rocm {

struct Visibility {
  sdk::Variable rocr;  ///< ROCR_VISIBLE_DEVICES, for everything on ROCm's runtime
  sdk::Variable hip;   ///< HIP_VISIBLE_DEVICES, in the numbering that the first one leaves
  sdk::Variable cuda;  ///< CUDA_VISIBLE_DEVICES, in place of HIP_VISIBLE_DEVICES when that is unset or empty
};
Visibility visibility_from_environment();

/// Those that the runtime reads, in the order in which it applies them: "ROCR_VISIBLE_DEVICES=1, then
/// HIP_VISIBLE_DEVICES=0". Empty when none is set.
std::string applied_variables(const Visibility& visibility);

/// What a user should know about the variables that are set, one line; empty when there is nothing. How many devices
/// are left is the runtime's to say, not this text's.
std::string visibility_remark(const Visibility& visibility);

}  // namespace lerobot::plugins::rocm
