#include "device.h"
#include "gpu_backend.h"

namespace lerobot::sdk {

std::unique_ptr<Backend> make_backend(const Log&) {
  constexpr plugins::Vendor kNvidia = {
      .name = "CUDA",
      .is_rocm = false,
      .bf16_missing = "has no bf16 units, which begin with sm_80: bf16 works, but slowly. Use fp16",
      .fp16_missing = "has no fast fp16, which begins with sm_70: fp16 saves memory, not time",
      .tf32_missing = "TF32 begins with sm_80. Use --tf32=false or null.",
  };
  return plugins::make_gpu_backend(kNvidia, plugins::cuda::ask_driver);
}

}  // namespace lerobot::sdk
