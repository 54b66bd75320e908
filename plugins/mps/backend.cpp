#include <ATen/Context.h>
#include <c10/core/Device.h>

#include "device.h"
#include "sdk/failure.h"
#include "sdk/torch/plugin.h"

namespace lerobot::plugins::mps {
namespace {

class MpsBackend : public sdk::Backend {
 public:
  MpsBackend() {
    if (!at::globalContext().hasMPS()) {
      throw sdk::Failure(
          LRA_UNAVAILABLE,
          "the torch in this process was built without MPS, or finds no Metal GPU on macOS 14.0 or newer",
          "Name a torch for macOS with --torch_dir or LEROBOT_TORCH_DIR.");
    }
  }

  std::vector<lra_device_info> devices() override {
    const Survey survey = survey_gpu();
    lra_device_info info{};
    if (survey.gpu) {
      info = *survey.gpu;
    } else {
      info.struct_size = sizeof(info);
      sdk::copy_text(info.name, "Metal GPU");
    }
    const c10::Device device(c10::kMPS, 0);  // tensors on it say 0, though there is only one
    info.torch_type = static_cast<std::int32_t>(device.type());
    info.torch_index = device.index();
    sdk::copy_text(info.torch_device, device.str());
    capabilities_ = info.capabilities;
    return {info};
  }

  sdk::AutocastSupport autocast_support(std::uint32_t, std::uint32_t precision) override {
    if (precision == LRA_PRECISION_FP16) return {LRA_SUPPORT_NATIVE, ""};
    if ((capabilities_ & LRA_CAP_BF16_NATIVE) != 0) return {LRA_SUPPORT_NATIVE, ""};
    if ((capabilities_ & LRA_CAP_BF16_EMULATED) != 0) {
      return {LRA_SUPPORT_EMULATED,
              "this GPU has no bf16 arithmetic (M3 and newer have): bf16 works, but may be slower "
              "than float32. Use fp16"};
    }
    return {LRA_SUPPORT_NONE, "bf16 needs macOS 14.0 or newer. Use fp16 or no mixed precision"};
  }

 private:
  std::uint64_t capabilities_ = 0;
};

}  // namespace
}  // namespace lerobot::plugins::mps

namespace lerobot::sdk {

std::unique_ptr<Backend> make_backend(const Log&) {
  return std::make_unique<plugins::mps::MpsBackend>();
}

}  // namespace lerobot::sdk
