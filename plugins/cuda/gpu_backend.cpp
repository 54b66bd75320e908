#include "gpu_backend.h"

#include <ATen/Context.h>
#include <torch/version.h>

#include <string>
#include <utility>

#include "sdk/failure.h"
#include "sdk/torch/tf32.h"

namespace lerobot::plugins {
namespace {

/// torch's side of a device that the driver describes.
void add_torch_fields(lra_device_info& info, std::size_t index) {
  const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  info.torch_type = static_cast<std::int32_t>(device.type());
  info.torch_index = device.index();
  sdk::copy_text(info.torch_device, device.str());
}

/// Throws unless torch's libraries for this vendor are in the process.
void require_backend(const Vendor& vendor) {
  const auto& hooks = at::globalContext().getAcceleratorHooksInterface(c10::kCUDA);
  if (hooks.isBuilt() && at::Context::hasROCM() == vendor.is_rocm) return;
  throw sdk::Failure(LRA_UNAVAILABLE,
                     std::string("torch " TORCH_VERSION " in this process was built without ") + vendor.name,
                     std::string("Name a torch built for ") + vendor.name + " with --torch_dir or LEROBOT_TORCH_DIR.");
}

void require_same_count(const std::vector<lra_device_info>& devices) {
  const int count = at::globalContext().getAcceleratorHooksInterface(c10::kCUDA).deviceCount();
  if (count >= 0 && static_cast<std::size_t>(count) == devices.size()) return;
  throw sdk::Failure(LRA_UNAVAILABLE,
                     "torch shows " + std::to_string(count) + " devices, the driver " + std::to_string(devices.size()) +
                         " (" + sdk::device_list(devices) + ")",
                     "Reinstall the driver, or a torch that fits it; torch's warning above says more.");
}

class GpuBackend : public sdk::Backend {
 public:
  GpuBackend(const Vendor& vendor, std::vector<lra_device_info> devices)
      : vendor_(vendor), devices_(std::move(devices)) {}

  std::vector<lra_device_info> devices() override { return devices_; }

  sdk::AutocastSupport autocast_support(std::uint32_t device, std::uint32_t precision) override {
    const bool bf16 = precision == LRA_PRECISION_BF16;
    const std::uint64_t native = bf16 ? LRA_CAP_BF16_NATIVE : LRA_CAP_FP16_NATIVE;
    const lra_device_info& info = devices_.at(device);
    if ((info.capabilities & native) != 0) return {LRA_SUPPORT_NATIVE, ""};
    return {LRA_SUPPORT_EMULATED, std::string(info.name) + " (" + info.architecture + ") " +
                                      (bf16 ? vendor_.bf16_missing : vendor_.fp16_missing)};
  }

  lra_tf32 tf32() override { return sdk::read_tf32(sdk::kCudaTf32); }

  void set_tf32(const lra_tf32& settings) override {
    const bool on = settings.matmul == LRA_TF32_ON || settings.convolution == LRA_TF32_ON;
    if (on && !has_tf32()) {
      throw sdk::Failure(LRA_UNSUPPORTED, sdk::device_list(devices_) + ": has no TF32", vendor_.tf32_missing);
    }
    sdk::write_tf32(sdk::kCudaTf32, settings, vendor_.tf32_missing);
  }

 private:
  /// The setting is the process's, so one device that has it is enough.
  bool has_tf32() const {
    return std::any_of(devices_.begin(), devices_.end(),
                       [](const lra_device_info& info) { return (info.capabilities & LRA_CAP_TF32) != 0; });
  }

  Vendor vendor_;
  std::vector<lra_device_info> devices_;
};

}  // namespace

std::unique_ptr<sdk::Backend> make_gpu_backend(const Vendor& vendor, sdk::ProbeReport (*ask_driver)()) {
  require_backend(vendor);
  sdk::ProbeReport report = ask_driver();
  if (!report.usable()) throw sdk::Failure(LRA_UNAVAILABLE, report.reason, report.hint);
  require_same_count(report.devices);
  for (std::size_t i = 0; i < report.devices.size(); ++i) add_torch_fields(report.devices[i], i);
  return std::make_unique<GpuBackend>(vendor, std::move(report.devices));
}

}  // namespace lerobot::plugins
