// NVIDIA's devices as their driver shows them; shared by the thin and the full library, so without torch.
#pragma once

#include <string>
#include <vector>

#include "sdk/probe.h"

namespace lerobot::plugins::cuda {

/// The devices in the driver's order, which is torch's too, or the reason why there is none. driver_version is
/// "580.65.06 (CUDA 13.0)", without the first number where the kernel does not show it. Creates no context.
/// Throws sdk::Failure(LRA_INTERNAL) when the driver's answers make no sense.
sdk::ProbeReport ask_driver();

/// CUDA's version that the driver supports, from a report's driver_version: "13.0".
std::string supported_cuda(const std::string& driver_version);

/// Whether a build for `archs` ("sm_80", "compute_90") has code for the device architecture `arch` ("sm_86"): machine
/// code runs on the same major with the same or a higher minor number, compute_ code on everything newer.
bool runs_on(const std::vector<std::string>& archs, const std::string& arch);

}  // namespace lerobot::plugins::cuda
