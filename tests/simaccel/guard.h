// torch's view of the devices: which one is the thread's current one, streams and events.
#pragma once

#include <c10/core/Device.h>

namespace lerobot::simaccel {

inline constexpr c10::DeviceType kSim = c10::DeviceType::PrivateUse1;

/// Number of devices, fixed when the plugin starts.
c10::DeviceIndex device_count();

/// The calling thread's current device.
c10::Device current_device();

/// `device` with its index filled in.
c10::Device with_index(c10::Device device);

/// Makes torch use this guard for the device type. Once per process.
void register_guard();

}  // namespace lerobot::simaccel
