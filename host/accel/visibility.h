#pragma once

#include <string>

#include "host/accel/search.h"

namespace lerobot::accel {

/// The variables that hide devices from a plugin, in the order in which they are applied, as
/// "ROCR_VISIBLE_DEVICES=0,1, then HIP_VISIBLE_DEVICES=1". Empty when none is set or the plugin is of no known vendor.
/// Each one counts in the numbering that the one before it left. HIP reads CUDA_VISIBLE_DEVICES only when its own
/// variable is unset or empty. How many devices are left is the runtime's to say, never parsed here.
std::string visibility_variables(const Manifest& manifest, const Variables& variables);

/// True when one of them is set to nothing or to -1, which hides every device.
bool hides_every_device(const Manifest& manifest, const Variables& variables);

}  // namespace lerobot::accel
