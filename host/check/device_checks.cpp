// Devices: what they are called, and what does not exist.
#include <algorithm>

#include "host/accel/abi.h"
#include "host/base/text.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

void device_info(Run& run) {
  run.start();
  const std::uint32_t count = run.device_count();
  run.expect(count == run.subject().probed_devices, "the probe found {} devices, the started plugin has {}",
             run.subject().probed_devices, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const lra_device_info info = run.device(i);
    run.expect(info.ordinal == i, "device {} says it is number {}", i, info.ordinal);
    run.expect(info.name[0] != 0, "device {} has no name", i);
    run.expect(info.torch_device[0] != 0 || !run.has_tensors(), "device {} has no torch_device", i);
    run.expect(info.memory_free <= info.memory_total || info.memory_total == 0, "device {}: {} of {} bytes are free", i,
               info.memory_free, info.memory_total);
    constexpr std::uint64_t kBf16 = LRA_CAP_BF16_NATIVE | LRA_CAP_BF16_EMULATED;
    constexpr std::uint64_t kFp16 = LRA_CAP_FP16_NATIVE | LRA_CAP_FP16_EMULATED;
    run.expect((info.capabilities & kBf16) != kBf16 && (info.capabilities & kFp16) != kFp16,
               "device {}: a precision is both native and emulated", i);
    run.expect(run.api().autocast_query || (info.capabilities & (kBf16 | kFp16)) == 0,
               "device {}: capability bits of bf16 or fp16 without autocast", i);
  }
}

/// torch knows the device under the numbers that the plugin gives it.
void torch_device(Run& run) {
  run.start();
  const auto& types = run.subject().manifest().device_types;
  for (std::uint32_t i = 0; i < run.device_count(); ++i) {
    const lra_device_info info = run.device(i);
    const std::string name = accel::bounded_text(info.torch_device);
    const checker::TorchDevice device = run.checker().parse(name);
    run.expect(device.type == info.torch_type && device.index == info.torch_index,
               "torch calls {} ({}, {}), device_info says ({}, {})", name, device.type, device.index, info.torch_type,
               info.torch_index);
    run.expect(std::ranges::find(types, device.type_name) != types.end(),
               "device {} is of torch's type {}, the manifest's device_types are {}", i, device.type_name,
               join(types, ", "));
  }
  const std::vector<float> values = {1, -2, 3.5};
  run.expect(run.tensors().make(checker::Type::kFloat32, {3}, values)->values() == values,
             "a tensor on the device does not hold what was written to it");
}

/// Every function that names a device refuses one past the last.
void bad_ordinals(Run& run) {
  run.start();
  const lra_api& api = run.api();
  for (const std::uint32_t device : {run.device_count(), 1000U, 0xffffffffU}) {
    const auto what = [&](const char* name) { return format("{} of device {}", name, device); };
    const auto refused = [&](const char* name, lra_status status) {
      run.refused(status, LRA_INVALID_ARGUMENT, what(name));
    };
    auto info = sized<lra_device_info>();
    refused("device_info", api.device_info(run.context(), device, &info, run.error()));
    refused("activate_device", api.activate_device(run.context(), device, run.error()));
    auto synchronize = sized<lra_synchronize_args>();
    synchronize.device = device;
    refused("synchronize", api.synchronize(run.context(), &synchronize, run.error()));
    refused("selftest", api.selftest(run.context(), device, run.error()));
    if (api.autocast_query) {
      auto support = sized<lra_autocast_support>();
      refused("autocast_query",
              api.autocast_query(run.context(), device, LRA_PRECISION_FLOAT32, &support, run.error()));
    }
    if (api.autocast_enter) {
      auto args = sized<lra_autocast_args>();
      args.device = device;
      std::uint64_t token = 0;
      refused("autocast_enter", api.autocast_enter(run.context(), &args, &token, run.error()));
    }
    if (api.memory_stats) {
      auto stats = sized<lra_memory_stats>();
      refused("memory_stats", api.memory_stats(run.context(), device, &stats, run.error()));
    }
    if (api.seed) refused("seed", api.seed(run.context(), device, 1, run.error()));
  }
}

}  // namespace

std::vector<Check> device_checks() {
  return {
      {"behaviour.device-info", "devices are as many as the probe counts, numbered and named", device_info},
      {"behaviour.torch-device", "torch knows each device as device_info describes it", torch_device},
      {"behaviour.bad-ordinals", "a device past the last is LRA_INVALID_ARGUMENT everywhere", bad_ordinals},
  };
}

}  // namespace lerobot::check
