#include "sdk/probe.h"

#include "device.h"
#include "sdk/failure.h"
#include "sdk/torch_build.h"

namespace lerobot::plugins::cuda {
namespace {

using sdk::ProbeReport;
using sdk::ProbeRequest;
using sdk::TorchBuild;

/// The first driver of a CUDA major; every later one runs what was built for that major.
std::string driver_for(int cuda_major) {
  switch (cuda_major) {
    case 11:
      return "450";
    case 12:
      return "525";
    case 13:
      return "580";
    default:
      return "one that supports CUDA " + std::to_string(cuda_major);
  }
}

void check_torch(const TorchBuild& torch, ProbeReport& report) {
  if (torch.directory.empty()) return;
  const bool is_cuda = torch.holds("libtorch_cuda.so");
  if (!is_cuda && (!torch.hip.empty() || torch.holds("libtorch_hip.so"))) {
    return report.refuse(LRA_REASON_TORCH, torch.text() + " is built for ROCm, an NVIDIA device needs one for CUDA",
                         "Name a torch built for CUDA with --torch_dir or LEROBOT_TORCH_DIR");
  }
  if (!is_cuda && torch.cuda.empty()) {
    return report.refuse(LRA_REASON_TORCH, torch.text() + " is built without CUDA: it holds no libtorch_cuda.so",
                         "Name a torch built for CUDA with --torch_dir or LEROBOT_TORCH_DIR");
  }
  for (const char* library : {"libtorch_cuda.so", "libc10_cuda.so"}) {
    if (torch.holds(library)) continue;
    return report.refuse(LRA_REASON_LIBRARY_MISSING,
                         std::string(library) + ", needed by the cuda plugin, is missing from " + torch.text(),
                         "Reinstall that torch");
  }
}

/// A driver runs everything built for its own CUDA major and for those before it, whatever the minor.
void check_driver_version(const TorchBuild& torch, ProbeReport& report) {
  const int needed = sdk::major_version(torch.cuda);
  const int found = sdk::major_version(supported_cuda(report.driver_version));
  if (needed < 0 || found >= needed) return;
  report.refuse(
      LRA_REASON_DRIVER_TOO_OLD,
      "the NVIDIA driver " + report.driver_version + " is too old, " + torch.text() + " needs CUDA " + torch.cuda,
      "Update the driver to " + driver_for(needed) + " or newer, or use a torch built for CUDA " +
          std::to_string(found));
}

/// The list describes the torch that the plugin was built for; another one may hold other code, and the selftest tells.
bool list_is_of_this_torch(const TorchBuild& torch) {
  return torch.cuda.empty() || sdk::major_version(torch.cuda) == LEROBOT_CUDA_ARCHS_MAJOR;
}

void check_architectures(const TorchBuild& torch, const std::vector<std::string>& archs, ProbeReport& report) {
  if (archs.empty()) return;
  std::vector<lra_device_info> without;
  for (const lra_device_info& device : report.devices) {
    if (!runs_on(archs, device.architecture)) without.push_back(device);
  }
  if (without.empty()) return;
  if (!list_is_of_this_torch(torch)) {
    return report.remark(sdk::device_list(without) + ": whether " + torch.text() +
                         " has code for it shows when it starts");
  }
  const std::string reason =
      "this build has no code for " + sdk::device_list(without) + ", only for " + sdk::join(archs);
  if (without.size() < report.devices.size()) return report.remark(reason);
  report.refuse(LRA_REASON_ARCHITECTURE, reason,
                "Name a torch that has it with LEROBOT_TORCH_DIR; up to sm_70 (Tesla V100) one built for CUDA 12");
}

void advise_precision(ProbeReport& report) {
  std::vector<lra_device_info> without;
  for (const lra_device_info& device : report.devices) {
    if ((device.capabilities & LRA_CAP_BF16_NATIVE) == 0) without.push_back(device);
  }
  if (!without.empty()) report.remark(sdk::device_list(without) + " has no bf16 units: use fp16");
}

ProbeReport look(const ProbeRequest& request) {
  ProbeReport report = ask_driver();
  const TorchBuild torch = sdk::find_torch_build(request.torch_directory, request.torch_version);
  if (report.usable()) check_torch(torch, report);
  if (report.usable()) check_driver_version(torch, report);
  if (report.usable()) check_architectures(torch, request.device_archs, report);
  if (report.usable()) advise_precision(report);
  return report;
}

}  // namespace
}  // namespace lerobot::plugins::cuda

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, lerobot::plugins::cuda::look);
}
