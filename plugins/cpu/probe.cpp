#include "sdk/probe.h"

#include "device.h"

namespace {

/// A processor is always there.
lerobot::sdk::ProbeReport look(const lerobot::sdk::ProbeRequest&) {
  lerobot::sdk::ProbeReport report;
  report.devices.push_back(lerobot::plugins::cpu::describe_processor());
  return report;
}

}  // namespace

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, look);
}
