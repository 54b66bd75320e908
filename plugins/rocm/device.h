// AMD's devices as HIP's runtime and the kernel's driver show them; shared by the thin and the full library, so without
// torch.
#pragma once

#include <string>
#include <vector>

#include "sdk/probe.h"
#include "topology.h"

namespace lerobot::plugins::rocm {

/// The devices in HIP's order, which is torch's too, or the reason why there is none. ROCm's torch brings HIP's runtime
/// with it: the one in this process is asked first, then the one in `torch_directory` (may be empty), then the
/// system's. driver_version is "HIP 7.0.51831". Throws sdk::Failure(LRA_INTERNAL) when answers make no sense.
sdk::ProbeReport ask_driver(const std::string& torch_directory);

/// HIP's version in a report's driver_version: "7.0.51831".
std::string hip_version(const std::string& driver_version);

}  // namespace lerobot::plugins::rocm
