// Memory in use, as torch's allocator of a device counts it.
#pragma once

#include <c10/core/Device.h>
#include <lerobot_accel.h>

namespace lerobot::sdk {

/// lra_api.memory_stats: bytes. Throws LRA_UNSUPPORTED when the device's allocator keeps no statistics (the CPU's).
lra_memory_stats read_memory(c10::Device device);

}  // namespace lerobot::sdk
