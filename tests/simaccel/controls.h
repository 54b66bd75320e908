// How the simulated accelerator behaves: what its user (a test) asks for in the environment or in a file. Without
// torch, for the thin library too.
#pragma once

#include <lerobot_accel.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lerobot::simaccel {

/// Where torch's random numbers on the device come from.
enum class GeneratorKind {
  kOwn,  ///< a generator for each device, as real hardware has
  kCpu,  ///< torch's CPU generator: the same numbers in the same order as on the CPU
};

/// One value for each key of README.md.
struct Controls {
  std::uint32_t devices = 2;                      ///< fixed when the plugin starts
  std::uint64_t memory = std::uint64_t{8} << 30;  ///< bytes of each device
  bool float64 = true;
  std::uint32_t bf16 = LRA_SUPPORT_NATIVE;
  std::uint32_t fp16 = LRA_SUPPORT_NATIVE;
  bool autocast = true;  ///< the table has the autocast entries; fixed at the handshake
  bool scaler = true;    ///< the table has the scaler entries; fixed at the handshake
  bool tf32 = false;     ///< the device has TF32; fixed at the handshake
  GeneratorKind generator = GeneratorKind::kOwn;
  std::uint64_t oom_at = 0;                ///< the allocation that fails, counted from 1 over all devices; 0: none
  std::uint64_t hang_at = 0;               ///< the operator that never returns, counted likewise
  std::uint64_t delay_us = 0;              ///< added to each operator
  std::vector<std::uint64_t> overflow_at;  ///< the unscale operations that report an overflow, counted from 1
  bool wrong_sums = false;                 ///< additions are off by one, which the selftest finds
};

inline constexpr std::uint32_t kMaxDevices = 8;

/// The controls in force now: LEROBOT_SIMACCEL, then the file that LEROBOT_SIMACCEL_FILE names, read again whenever it
/// has changed. Throws Failure(LRA_INVALID_ARGUMENT) for a key or a value that does not exist.
std::shared_ptr<const Controls> controls();

/// A device as the driver would describe it; torch's fields are left as the probe leaves them.
lra_device_info describe_device(const Controls& controls, std::uint32_t ordinal);

}  // namespace lerobot::simaccel
