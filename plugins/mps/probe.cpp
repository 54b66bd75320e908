#include "sdk/probe.h"

#include <sys/utsname.h>

#include <cstring>

#include "device.h"

namespace lerobot::plugins::mps {
namespace {

using sdk::ProbeReport;
using sdk::ProbeRequest;

ProbeReport unavailable(std::uint32_t code, std::string reason, std::string hint) {
  ProbeReport report;
  report.reason_code = code;
  report.reason = std::move(reason);
  report.hint = std::move(hint);
  return report;
}

ProbeReport without(const sdk::DriverLibrary& library) {
  utsname system{};
  uname(&system);
  if (std::strcmp(system.sysname, "Darwin") != 0) {
    return unavailable(LRA_REASON_NO_DRIVER,
                       std::string("Metal exists on macOS only; this is ") + system.sysname + " " + system.machine,
                       "Nothing to do; the package may be removed");
  }
  return unavailable(LRA_REASON_NO_DRIVER, library.name() + " does not open: " + library.problem(),
                     "Reinstall macOS: it is a part of the system");
}

ProbeReport no_gpu(const Survey& survey) {
  if (survey.low_power.empty()) {
    return unavailable(LRA_REASON_NO_DEVICE, "Metal knows no GPU",
                       "A virtual machine needs a graphics device that supports Metal");
  }
  return unavailable(LRA_REASON_NO_DEVICE,
                     "torch does not take the low-power GPU " + survey.low_power.front() + ", and there is no other",
                     "Train on the processor, or on a Mac with Apple's own chip");
}

ProbeReport look(const ProbeRequest&) {
  const Survey survey = survey_gpu();
  if (!survey.metal) return without(survey.metal);
  if (!survey.runtime) return without(survey.runtime);
  if (!survey.missing_function.empty()) {
    return unavailable(LRA_REASON_DRIVER_TOO_OLD, "this system's Metal has no " + survey.missing_function,
                       "Update macOS to 14.0 or newer");
  }
  if (!at_least(survey.system_version, 14, 0)) {
    return unavailable(LRA_REASON_DRIVER_TOO_OLD,
                       survey.system_version.empty() ? "the version of macOS is not known, needed 14.0 or newer"
                                                     : "macOS is " + survey.system_version + ", needed 14.0 or newer",
                       "Update macOS");
  }
  if (!survey.gpu) return no_gpu(survey);
  ProbeReport report;
  report.driver_version = "macOS " + survey.system_version;
  report.devices.push_back(*survey.gpu);
  return report;
}

}  // namespace
}  // namespace lerobot::plugins::mps

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, lerobot::plugins::mps::look);
}
