// Device memory, which is the host's.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Storage.h>

namespace lerobot::simaccel {

/// The host's memory behind `host` as memory of `device`, without a copy; counted there until it is freed. Throws
/// c10::OutOfMemoryError when the device has no room for it, or when the controls say so.
c10::DataPtr adopt_memory(c10::Storage host, c10::Device device);

/// torch's allocator for the devices.
c10::Allocator* allocator();

/// Makes torch use it. Once per process.
void register_allocator();

}  // namespace lerobot::simaccel
