// The processor as a device; shared by the thin and the full library, so without torch.
#pragma once

#include <lerobot_accel.h>

namespace lerobot::plugins::cpu {

/// Name, architecture, memory and capabilities; the torch fields are left as the probe leaves them.
lra_device_info describe_processor();

}  // namespace lerobot::plugins::cpu
