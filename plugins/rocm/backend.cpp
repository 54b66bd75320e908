#include "../cuda/gpu_backend.h"
#include "device.h"

namespace lerobot::sdk {

std::unique_ptr<Backend> make_backend(const Log&) {
  constexpr plugins::Vendor kAmd = {
      .name = "ROCm",
      .is_rocm = true,
      .bf16_missing = "has no bf16 units: bf16 works, but slowly. Use fp16",
      .fp16_missing = "has no fast fp16: it saves memory, not time",
      .tf32_missing = "TF32 needs gfx942 and HIPBLASLT_ALLOW_TF32=1. Use --tf32=false or null.",
  };
  // torch has its HIP runtime in the process, so there is no directory to look in.
  return plugins::make_gpu_backend(kAmd, [] { return plugins::rocm::ask_driver(""); });
}

}  // namespace lerobot::sdk
