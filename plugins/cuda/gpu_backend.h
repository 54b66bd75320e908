// torch's "cuda" devices, which are NVIDIA's or, in a torch built for ROCm, AMD's. Compiled into both plugins.
#pragma once

#include <memory>

#include "sdk/probe.h"
#include "sdk/torch/plugin.h"

namespace lerobot::plugins {

/// What differs between the two.
struct Vendor {
  const char* name;          ///< what torch must be built for: "CUDA"
  bool is_rocm;              ///< torch's own word for it
  const char* bf16_missing;  ///< why bf16 is not native
  const char* fp16_missing;  ///< why fp16 is not native
  const char* tf32_missing;  ///< cure when TF32 is refused
};

/// The backend over the torch in this process. `ask_driver` is called when that torch is one of the vendor's, and tells
/// the devices in torch's order. Throws sdk::Failure(LRA_UNAVAILABLE) when torch or the driver has no such device.
std::unique_ptr<sdk::Backend> make_gpu_backend(const Vendor& vendor, sdk::ProbeReport (*ask_driver)());

}  // namespace lerobot::plugins
