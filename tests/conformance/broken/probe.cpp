// The thin library of the broken plugin.
#include <cstring>

#include "fault.h"
#include "sdk/failure.h"
#include "sdk/probe.h"

namespace {

using broken::fault;

lerobot::sdk::ProbeReport look(const lerobot::sdk::ProbeRequest&) {
  lerobot::sdk::ProbeReport report;
  if (fault("no-device")) {
    report.reason_code = LRA_REASON_NO_DEVICE;
    report.reason = "there is no broken device";
    return report;
  }
  for (std::uint32_t i = 0; i < (fault("miscounts") ? 1U : 2U); ++i) {
    lra_device_info device{};
    device.struct_size = sizeof device;
    device.ordinal = i;
    device.memory_total = std::uint64_t{1} << 30;
    lerobot::sdk::copy_text(device.name, "Broken device");
    lerobot::sdk::copy_text(device.architecture, "broken");
    report.devices.push_back(device);
  }
  return report;
}

/// Elements sizeof apart, as if no later version could come.
void forget_stride(lra_probe_result& result) {
  auto* first = reinterpret_cast<char*>(result.devices);
  if (result.device_capacity > 1) std::memcpy(first + sizeof(lra_device_info), first, sizeof(lra_device_info));
}

}  // namespace

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  if (fault("probe-takes-null") && args == nullptr) return LRA_OK;
  if (fault("probe-wants-terminator")) {
    static volatile char seen;
    if (args != nullptr && args->struct_size >= sizeof *args && args->package_directory != nullptr) {
      seen = args->package_directory[args->package_directory_size];
      (void)seen;
    }
  }
  const bool longer = result != nullptr && result->struct_size > sizeof *result;
  const lra_status status = lerobot::sdk::answer_probe(args, result, error, look);
  if (status != LRA_OK) return status;
  if (fault("probe-writes-on") && longer) reinterpret_cast<char*>(result)[sizeof *result] = 1;
  if (fault("probe-text-without-end")) std::memset(result->driver_version, 'x', sizeof result->driver_version);
  if (fault("probe-without-reason")) result->availability = LRA_PROBE_UNAVAILABLE;
  if (fault("probe-forgets-stride")) forget_stride(*result);
  return status;
}
