// The device's random generators, and what torch asks a device type for.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace lerobot::simaccel {

/// The CPU generator that stands behind a generator of the device; behind the device's default one when `generator` is
/// not defined. The CPU's kernels draw from it.
at::Generator host_generator(const at::Generator& generator, c10::Device device);

/// Makes torch use these hooks for the device type. Once per process.
void register_hooks();

}  // namespace lerobot::simaccel
