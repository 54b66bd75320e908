// The thin library: is there a device? A real one opens the vendor's driver here with dlopen, and links nothing of it.
#include "sdk/probe.h"

#include "sdk/failure.h"

namespace {

lerobot::sdk::ProbeReport look(const lerobot::sdk::ProbeRequest&) {
  lra_device_info device{};
  device.struct_size = sizeof(device);
  device.capabilities = LRA_CAP_HOST_PROCESSOR | LRA_CAP_FLOAT64 | LRA_CAP_BF16_EMULATED;
  device.memory_total = std::uint64_t{1} << 30;
  lerobot::sdk::copy_text(device.name, "Example device");
  lerobot::sdk::copy_text(device.architecture, "example");

  lerobot::sdk::ProbeReport report;  // or: report.refuse(LRA_REASON_NO_DEVICE, "what is missing", "how to get it");
  report.devices.push_back(device);
  return report;
}

}  // namespace

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, look);
}
