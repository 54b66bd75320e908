// What this hardware does in its own way; the rest of the table comes from the SDK. The example computes on the CPU.
#include "sdk/failure.h"
#include "sdk/torch/plugin.h"

namespace {

using lerobot::sdk::AutocastSupport;
using lerobot::sdk::Backend;

class ExampleBackend : public Backend {
 public:
  std::vector<lra_device_info> devices() override {
    const c10::Device place(c10::kCPU);
    lra_device_info device{};
    device.struct_size = sizeof(device);
    device.torch_type = static_cast<std::int32_t>(place.type());
    device.torch_index = place.index();
    device.capabilities = LRA_CAP_HOST_PROCESSOR | LRA_CAP_FLOAT64 | LRA_CAP_BF16_EMULATED;
    device.memory_total = std::uint64_t{1} << 30;
    lerobot::sdk::copy_text(device.torch_device, place.str());
    lerobot::sdk::copy_text(device.name, "Example device");
    return {device};
  }

  AutocastSupport autocast_support(std::uint32_t, std::uint32_t precision) override {
    if (precision == LRA_PRECISION_BF16) return {LRA_SUPPORT_EMULATED, "the example has no bf16 units"};
    return {LRA_SUPPORT_NONE, "the example has no fp16"};
  }
};

}  // namespace

std::unique_ptr<Backend> lerobot::sdk::make_backend(const Log& log) {
  log.write(LRA_LOG_DEBUG, "example plugin started");
  return std::make_unique<ExampleBackend>();
}
