#include <c10/core/DeviceType.h>

#include "allocator.h"
#include "controls.h"
#include "counters.h"
#include "fallback.h"
#include "guard.h"
#include "hooks.h"
#include "kernels.h"
#include "sdk/failure.h"
#include "sdk/torch/plugin.h"

namespace lerobot::simaccel {
namespace {

/// Makes the device known to torch, which cannot forget it again.
void register_once() {
  static const bool done = [] {
    c10::register_privateuse1_backend(LEROBOT_PLUGIN_ID);
    register_allocator();
    register_guard();
    register_hooks();
    register_fallback();
    register_kernels();
    register_autocast();
    return true;
  }();
  (void)done;
}

/// The process's setting, as torch's defaults have it. Arithmetic is the same whatever it says.
lra_tf32& tf32_state() {
  static lra_tf32 state{sizeof(lra_tf32), LRA_TF32_OFF, LRA_TF32_ON, 0};
  return state;
}

void publish_tf32() {
  counters().tf32_matmul = tf32_state().matmul;
  counters().tf32_convolution = tf32_state().convolution;
}

class SimBackend : public sdk::Backend {
 public:
  SimBackend() {
    register_once();
    ++counters().inits;
    if (controls()->tf32) publish_tf32();
  }

  std::vector<lra_device_info> devices() override {
    std::vector<lra_device_info> all;
    const auto controls = simaccel::controls();
    for (c10::DeviceIndex i = 0; i < device_count(); ++i) {
      const c10::Device device(kSim, i);
      lra_device_info info = describe_device(*controls, static_cast<std::uint32_t>(i));
      info.torch_type = static_cast<std::int32_t>(device.type());
      info.torch_index = device.index();
      sdk::copy_text(info.torch_device, device.str());
      all.push_back(info);
    }
    return all;
  }

  sdk::AutocastSupport autocast_support(std::uint32_t, std::uint32_t precision) override {
    const bool bf16 = precision == LRA_PRECISION_BF16;
    const std::uint32_t support = bf16 ? controls()->bf16 : controls()->fp16;
    const std::string name = bf16 ? "bf16" : "fp16";
    if (support == LRA_SUPPORT_NATIVE) return {support, ""};
    return {support, support == LRA_SUPPORT_NONE ? "this simulated accelerator has no " + name
                                                 : "this simulated accelerator computes " + name + " in float32"};
  }

  lra_tf32 tf32() override { return tf32_state(); }
  void set_tf32(const lra_tf32& settings) override {
    if (settings.matmul != LRA_TF32_LEAVE) tf32_state().matmul = settings.matmul;
    if (settings.convolution != LRA_TF32_LEAVE) tf32_state().convolution = settings.convolution;
    publish_tf32();
    ++counters().tf32_sets;
  }
};

}  // namespace
}  // namespace lerobot::simaccel

std::unique_ptr<lerobot::sdk::Backend> lerobot::sdk::make_backend(const Log& log) {
  log.write(LRA_LOG_DEBUG, "simulated accelerator: " + std::to_string(simaccel::controls()->devices) + " devices");
  return std::make_unique<simaccel::SimBackend>();
}
