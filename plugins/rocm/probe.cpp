#include "sdk/probe.h"

#include <algorithm>

#include "device.h"
#include "sdk/driver.h"
#include "sdk/failure.h"
#include "sdk/torch_build.h"
#include "topology.h"

namespace lerobot::plugins::rocm {
namespace {

using sdk::ProbeReport;
using sdk::ProbeRequest;
using sdk::TorchBuild;

constexpr char kTorchCure[] =
    "Reinstall torch's ROCm build (a plain pip install torch puts another in its place), or name one with --torch_dir "
    "or LEROBOT_TORCH_DIR";

void check_torch(const TorchBuild& torch, ProbeReport& report) {
  if (torch.directory.empty()) return;
  const bool is_rocm = torch.holds("libtorch_hip.so");
  if (!is_rocm && (torch.holds("libtorch_cuda.so") || !torch.cuda.empty())) {
    return report.refuse(LRA_REASON_TORCH,
                         torch.text() + " is built for CUDA" + (torch.cuda.empty() ? "" : " " + torch.cuda) +
                             ", an AMD device needs one for ROCm",
                         kTorchCure);
  }
  if (!is_rocm && torch.hip.empty()) {
    return report.refuse(LRA_REASON_TORCH, torch.text() + " is built without ROCm: it holds no libtorch_hip.so",
                         kTorchCure);
  }
  for (const char* library : {"libtorch_hip.so", "libc10_hip.so"}) {
    if (torch.holds(library)) continue;
    return report.refuse(LRA_REASON_LIBRARY_MISSING,
                         std::string(library) + ", needed by the rocm plugin, is missing from " + torch.text(),
                         "Reinstall that torch");
  }
}

/// HIP's major version is ROCm's, and a torch runs with its own major only.
void check_runtime_version(const TorchBuild& torch, ProbeReport& report) {
  const int needed = sdk::major_version(torch.hip);
  const int found = sdk::major_version(hip_version(report.driver_version));
  if (needed < 0 || found >= needed) return;
  report.refuse(LRA_REASON_DRIVER_TOO_OLD,
                report.driver_version + " is too old, " + torch.text() + " needs ROCm " + torch.hip,
                "Install ROCm " + std::to_string(needed) + ", or use a torch built for ROCm " + std::to_string(found));
}

/// A device whose architecture is not known is left to the selftest.
void check_architectures(const std::vector<std::string>& archs, ProbeReport& report) {
  if (archs.empty()) return;
  std::vector<lra_device_info> without;
  for (const lra_device_info& device : report.devices) {
    const std::string arch = device.architecture;
    if (!arch.empty() && std::find(archs.begin(), archs.end(), arch) == archs.end()) {
      without.push_back(device);
    }
  }
  if (without.empty()) return;
  const std::string reason =
      "this build has no code for " + sdk::device_list(without) + ", only for " + sdk::join(archs);
  if (without.size() < report.devices.size()) return report.remark(reason);
  report.refuse(
      LRA_REASON_ARCHITECTURE, reason,
      "Name a torch that has it with LEROBOT_TORCH_DIR; HSA_OVERRIDE_GFX_VERSION lets a near relative's code run");
}

/// Without HIP's runtime the torch may be at fault: ROCm's brings the runtime, and another took its place.
bool torch_explains_it(const ProbeReport& report) {
  return report.usable() || (report.reason_code == LRA_REASON_NO_DRIVER && !read_topology(sdk::sysroot()).empty());
}

ProbeReport look(const ProbeRequest& request) {
  ProbeReport report = ask_driver(request.torch_directory);
  const TorchBuild torch = sdk::find_torch_build(request.torch_directory, request.torch_version);
  if (torch_explains_it(report)) check_torch(torch, report);
  if (report.usable()) check_runtime_version(torch, report);
  if (report.usable()) check_architectures(request.device_archs, report);
  return report;
}

}  // namespace
}  // namespace lerobot::plugins::rocm

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, lerobot::plugins::rocm::look);
}
