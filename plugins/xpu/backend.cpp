#include <ATen/Context.h>
#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "device.h"
#include "sdk/failure.h"
#include "sdk/torch/plugin.h"
#include "sdk/torch/tf32.h"

namespace lerobot::plugins::xpu {
namespace {

/// What torch gives out when Level Zero cannot be asked about it: a GPU by number.
lra_device_info unknown_gpu() {
  lra_device_info info{};
  info.struct_size = sizeof(info);
  info.capabilities = LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE;
  sdk::copy_text(info.name, "Intel GPU");
  return info;
}

class XpuBackend : public sdk::Backend {
 public:
  explicit XpuBackend(const sdk::Log& log) : log_(log) {
    if (!at::globalContext().hasXPU()) {
      throw sdk::Failure(
          LRA_UNAVAILABLE, "the torch in this process was built without XPU",
          "Name a torch built for XPU (its version ends in +xpu) with --torch_dir or LEROBOT_TORCH_DIR.");
    }
  }

  std::vector<lra_device_info> devices() override {
    const auto count = c10::impl::VirtualGuardImpl(c10::kXPU).deviceCount();
    std::vector<Gpu> gpus = torch_gpus(survey_gpus().gpus);
    if (gpus.size() != static_cast<std::size_t>(count)) {
      log_.write(LRA_LOG_WARNING, "torch has " + std::to_string(count) + " XPU devices, Level Zero " +
                                      std::to_string(gpus.size()) + ": names and capabilities are not known");
      gpus.assign(static_cast<std::size_t>(count), Gpu{unknown_gpu(), 0, false, false, ""});
    }
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const c10::Device device(c10::kXPU, static_cast<c10::DeviceIndex>(i));
      lra_device_info& info = gpus[i].info;
      info.ordinal = static_cast<std::uint32_t>(i);
      info.torch_type = static_cast<std::int32_t>(device.type());
      info.torch_index = device.index();
      sdk::copy_text(info.torch_device, device.str());
      infos_.push_back(info);
    }
    return infos_;
  }

  sdk::AutocastSupport autocast_support(std::uint32_t device, std::uint32_t precision) override {
    const lra_device_info& info = infos_[device];
    if (precision == LRA_PRECISION_FP16) {
      if ((info.capabilities & LRA_CAP_FP16_NATIVE) != 0) return {LRA_SUPPORT_NATIVE, ""};
      return {LRA_SUPPORT_NONE, std::string(info.name) + " has no fp16 arithmetic. Use no mixed precision"};
    }
    if ((info.capabilities & LRA_CAP_BF16_NATIVE) != 0) return {LRA_SUPPORT_NATIVE, ""};
    return {LRA_SUPPORT_EMULATED, std::string(info.name) +
                                      " is not known to have matrix units (XMX): bf16 works, but may be slower than "
                                      "float32"};
  }

  lra_tf32 tf32() override { return sdk::read_tf32(sdk::kOneDnnTf32); }

  void set_tf32(const lra_tf32& settings) override {
    if ((settings.matmul == LRA_TF32_ON || settings.convolution == LRA_TF32_ON) && !has_tf32()) {
      throw sdk::Failure(LRA_UNSUPPORTED, "no Intel GPU here is known to have TF32",
                         "Leave it unset, or set it to false.");
    }
    sdk::write_tf32(sdk::kOneDnnTf32, settings,
                    "torch has one switch for both on XPU: set matrix products and convolutions alike.");
  }

 private:
  bool has_tf32() const {
    for (const lra_device_info& info : infos_) {
      if ((info.capabilities & LRA_CAP_TF32) != 0) return true;
    }
    return false;
  }

  sdk::Log log_;
  std::vector<lra_device_info> infos_;
};

}  // namespace
}  // namespace lerobot::plugins::xpu

namespace lerobot::sdk {

std::unique_ptr<Backend> make_backend(const Log& log) {
  return std::make_unique<plugins::xpu::XpuBackend>(log);
}

}  // namespace lerobot::sdk
