#include <c10/core/Device.h>

#include "device.h"
#include "sdk/failure.h"
#include "sdk/torch/plugin.h"

namespace lerobot::plugins::cpu {
namespace {

class CpuBackend : public sdk::Backend {
 public:
  std::vector<lra_device_info> devices() override {
    const c10::Device cpu(c10::kCPU);
    lra_device_info info = describe_processor();
    info.torch_type = static_cast<std::int32_t>(cpu.type());
    info.torch_index = cpu.index();
    sdk::copy_text(info.torch_device, cpu.str());
    capabilities_ = info.capabilities;
    return {info};
  }

  sdk::AutocastSupport autocast_support(std::uint32_t, std::uint32_t precision) override {
    if (precision == LRA_PRECISION_FP16) {
      return {LRA_SUPPORT_NONE,
              "the cpu plugin does not train in fp16: a CPU computes it slower than float32. "
              "Use bf16 or no mixed precision"};
    }
    if ((capabilities_ & LRA_CAP_BF16_NATIVE) != 0) return {LRA_SUPPORT_NATIVE, ""};
    return {LRA_SUPPORT_EMULATED,
            "this processor has no bf16 instructions (avx512_bf16, amx_bf16): bf16 works, but "
            "may be slower than float32"};
  }

 private:
  std::uint64_t capabilities_ = 0;
};

}  // namespace
}  // namespace lerobot::plugins::cpu

namespace lerobot::sdk {

std::unique_ptr<Backend> make_backend(const Log&) {
  return std::make_unique<plugins::cpu::CpuBackend>();
}

}  // namespace lerobot::sdk
