#include "sdk/probe.h"

#include <sys/utsname.h>

#include <cstring>

#include "device.h"

namespace lerobot::plugins::mps {
namespace {

using sdk::ProbeReport;
using sdk::ProbeRequest;
using sdk::Unavailable;

Unavailable without(const sdk::DriverLibrary& library) {
  utsname system{};
  uname(&system);
  if (std::strcmp(system.sysname, "Darwin") != 0) {
    return {LRA_REASON_NO_DRIVER,
            std::string("Metal exists on macOS only; this is ") + system.sysname + " " + system.machine,
            "Nothing to do; the package may be removed"};
  }
  return {LRA_REASON_NO_DRIVER, library.name() + " does not open: " + library.problem(),
          "Reinstall macOS: it is a part of the system"};
}

Unavailable too_old(const std::string& macos) {
  return {LRA_REASON_DRIVER_TOO_OLD,
          macos.empty() ? "the version of macOS is not known, needed 14.0 or newer"
                        : "macOS is " + macos + ", needed 14.0 or newer",
          "Update macOS"};
}

Unavailable no_gpu(const Survey& survey) {
  if (survey.low_power.empty()) {
    return {LRA_REASON_NO_DEVICE, "Metal knows no GPU",
            "A virtual machine needs a graphics device that supports Metal"};
  }
  return {LRA_REASON_NO_DEVICE,
          "torch does not take the low-power GPU " + survey.low_power.front() + ", and there is no other",
          "Train on the processor, or on a Mac with Apple's own chip"};
}

/// The GPU that torch takes; throws Unavailable when there is none.
lra_device_info find_gpu(const Survey& survey) {
  if (!survey.metal) throw without(survey.metal);
  if (!survey.runtime) throw without(survey.runtime);
  if (!survey.missing_function.empty()) {
    throw Unavailable{LRA_REASON_DRIVER_TOO_OLD, "this system's Metal has no " + survey.missing_function,
                      "Update macOS to 14.0 or newer"};
  }
  if (!at_least(survey.system_version, 14, 0)) throw too_old(survey.system_version);
  if (!survey.gpu) throw no_gpu(survey);
  return *survey.gpu;
}

ProbeReport look(const ProbeRequest&) {
  ProbeReport report;
  try {
    const Survey survey = survey_gpu();
    report.devices.push_back(find_gpu(survey));
    report.driver_version = "macOS " + survey.system_version;
  } catch (const Unavailable& unavailable) {
    report.refuse(unavailable);
  }
  return report;
}

}  // namespace
}  // namespace lerobot::plugins::mps

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, lerobot::plugins::mps::look);
}
