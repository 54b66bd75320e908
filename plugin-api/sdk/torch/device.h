// Device work that torch offers for every device in the same way.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace lerobot::sdk {

/// Makes `device` the calling thread's current one; nothing to do on the CPU.
void activate(c10::Device device);

/// Waits for all streams of `device`; nothing to do on the CPU.
void synchronize(c10::Device device);

/// Seeds torch's default generator of `device`.
void seed_generator(c10::Device device, std::uint64_t seed);

/// One small addition and one small matrix product on `device`; throws LRA_INTERNAL when a number is wrong.
void check_arithmetic(c10::Device device);

}  // namespace lerobot::sdk
