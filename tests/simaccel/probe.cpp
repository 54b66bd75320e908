// The thin library: the "driver" is the environment.
#include "sdk/probe.h"

#include "controls.h"

namespace {

lerobot::sdk::ProbeReport look(const lerobot::sdk::ProbeRequest&) {
  const auto controls = lerobot::simaccel::controls();
  lerobot::sdk::ProbeReport report;
  report.driver_version = "1";
  if (controls->devices == 0) {
    report.reason_code = LRA_REASON_NO_DEVICE;
    report.reason = "LEROBOT_SIMACCEL says devices=0";
    report.hint = "Leave devices out, or raise it.";
  }
  for (std::uint32_t i = 0; i < controls->devices; ++i) {
    report.devices.push_back(lerobot::simaccel::describe_device(*controls, i));
  }
  return report;
}

}  // namespace

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, look);
}
