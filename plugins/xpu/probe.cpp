#include "sdk/probe.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "device.h"
#include "level_zero.h"
#include "sdk/driver.h"
#include "sdk/torch_build.h"

namespace lerobot::plugins::xpu {
namespace {

using sdk::ProbeReport;
using sdk::ProbeRequest;
using sdk::Unavailable;

/// Loader, driver and run-time library come from different packages: how to get the one with a missing library.
std::string package_cure(const std::string& library) {
  struct Part {
    const char* prefix;
    const char* cure;
  };
  static constexpr Part kParts[] = {
      {"libze_loader", "Install the Level Zero loader: package level-zero (libze1 on Debian)"},
      {"libze_intel_gpu", "Install Intel's compute driver: package intel-level-zero-gpu (libze-intel-gpu1)"},
      {"libigc", "Install the driver's compiler: package intel-igc-core (libigc2)"},
      {"libigdfcl", "Install the driver's compiler: package intel-igc-opencl (libigdfcl2)"},
      {"libigdgmm", "Install the driver's memory manager: package libigdgmm12"},
      {"libsycl", "Install the SYCL run time: torch's XPU wheels bring it as package intel-sycl-rt"},
      {"libur_", "Install the SYCL run time's adapters: torch's XPU wheels bring them as package intel-sycl-rt"},
  };
  for (const Part& part : kParts) {
    if (library.compare(0, std::string(part.prefix).size(), part.prefix) == 0) return part.cure;
  }
  return "Install the package that brings " + library;
}

/// What the kernel shows of Intel's GPUs, whatever the driver says.
struct KernelView {
  std::vector<std::string> usable;  ///< device nodes
  std::vector<sdk::NodeAccess> forbidden;
  std::vector<std::string> absent;  ///< nodes that the kernel names and this (container's) /dev lacks
};

KernelView kernel_view() {
  KernelView view;
  const std::string root = sdk::sysroot();
  const auto add = [&](const std::string& path, bool expected) {
    const sdk::NodeAccess node = sdk::check_node(root + path);
    if (node.permitted) {
      view.usable.push_back(path);
    } else if (node.present) {
      view.forbidden.push_back(node);
    } else if (expected) {
      view.absent.push_back(path);
    }
  };
  for (const std::string& name : sdk::directory_entries(root + "/sys/class/drm")) {
    if (name.compare(0, 7, "renderD") != 0) continue;
    const std::string vendor = sdk::read_text(root + "/sys/class/drm/" + name + "/device/vendor");
    if (vendor == "0x8086") add("/dev/dri/" + name, true);
  }
  add("/dev/dxg", false);  // WSL's, whoever made the card
  return view;
}

/// "ZE_AFFINITY_MASK=3"; empty when it is unset or empty.
std::string assignment(const char* name) {
  const std::string value = sdk::environment(name).value;
  return value.empty() ? "" : std::string(name) + "=" + value;
}

Unavailable library_missing(const std::string& library, const std::string& needed_by) {
  return {LRA_REASON_LIBRARY_MISSING, library + ", which " + needed_by + " needs, is not installed",
          package_cure(library)};
}

/// Why a library does not open that is there, or that one of its own is missing.
Unavailable broken_library(const sdk::DriverLibrary& library) {
  if (library.lacks_dependency()) return library_missing(library.missing(), library.name());
  return {LRA_REASON_OTHER, library.name() + " does not open: " + library.problem(),
          "Install it anew, in the version for this system"};
}

Unavailable no_driver(const std::string& what, const std::string& cure) {
  const KernelView kernel = kernel_view();
  std::vector<std::string> nodes = kernel.usable;
  for (const sdk::NodeAccess& node : kernel.forbidden) nodes.push_back(node.explanation);
  return {LRA_REASON_NO_DRIVER, what + (nodes.empty() ? "" : "; the kernel has a graphics node: " + sdk::join(nodes)),
          cure};
}

Unavailable without_loader(const sdk::DriverLibrary& loader) {
  if (loader.missing() != loader.name()) return broken_library(loader);
  return no_driver("the Level Zero loader " + loader.name() + " is not installed",
                   package_cure(loader.name()) + ", and the driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

Unavailable not_permitted(const sdk::NodeAccess& node) {
  return {LRA_REASON_NOT_PERMITTED, "this user may not open the GPU's node: " + node.explanation, node.cure};
}

/// The loader is there and gives out no GPU: the driver, the rights, a variable or the card is missing.
Unavailable no_gpu(const Survey& survey) {
  const sdk::DriverLibrary driver{"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1"};
  if (!driver && driver.missing() == driver.name()) {
    return no_driver("the Level Zero loader finds no driver: " + driver.name() + " is not installed",
                     package_cure(driver.name()));
  }
  if (!driver) return broken_library(driver);
  const KernelView kernel = kernel_view();
  if (kernel.usable.empty() && !kernel.forbidden.empty()) return not_permitted(kernel.forbidden.front());
  const std::string mask = assignment("ZE_AFFINITY_MASK");
  if (!kernel.usable.empty() && !mask.empty()) {
    return {LRA_REASON_HIDDEN_BY_ENVIRONMENT,
            mask + " hides every Intel GPU; the kernel has " + sdk::join(kernel.usable),
            "Unset ZE_AFFINITY_MASK, or name a device that is there (they count from 0)"};
  }
  if (!kernel.usable.empty()) {
    return {LRA_REASON_NO_DEVICE,
            driver.name() + " knows no GPU behind " + sdk::join(kernel.usable) +
                (survey.failed_call.empty() ? "" : " (" + survey.failed_call + ")"),
            "Update Intel's compute driver; cards older than 12th generation need its legacy package"};
  }
  if (!kernel.absent.empty()) {
    return {LRA_REASON_NO_DEVICE,
            "an Intel GPU is there, its node " + sdk::join(kernel.absent) + " is not: it was not passed in",
            "In a container, start it with --device /dev/dri"};
  }
  return {LRA_REASON_NO_DEVICE, "Intel's driver is installed and sees no Intel GPU",
          "Nothing to do on a machine without one; else check the kernel's i915 or xe driver"};
}

Unavailable call_failed(const Survey& survey) {
  if (survey.result == kUnsupportedVersion) {
    return {LRA_REASON_DRIVER_TOO_OLD,
            "the Level Zero loader and Intel's driver do not fit together: " + survey.failed_call,
            "Update both: packages level-zero and intel-level-zero-gpu"};
  }
  if (survey.result == kDependencyUnavailable) {
    return {LRA_REASON_LIBRARY_MISSING, "Intel's driver misses a library that it loads itself: " + survey.failed_call,
            package_cure("libigc") + " and libigdgmm12"};
  }
  return {LRA_REASON_OTHER, "Intel's driver answers with an error: " + survey.failed_call,
          "See the kernel's log (dmesg) for the i915 or xe driver, and the vendor's diagnostics"};
}

/// The SYCL library that this torch was linked with, by the names in its small library; empty: not known.
std::string sycl_library(const std::filesystem::path& torch) {
  std::ifstream file(torch / "libc10_xpu.so", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = bytes.find("libsycl.so");
  return begin == std::string::npos ? "" : std::string(bytes.c_str() + begin);
}

/// Beside torch, in the environment's lib folder, where torch's own run path looks, or where the loader looks.
bool is_installed(const std::string& library, const std::filesystem::path& torch) {
  std::error_code ec;
  return std::filesystem::exists(torch / library, ec) || std::filesystem::exists(torch / "../../../.." / library, ec) ||
         sdk::DriverLibrary{library.c_str()};
}

void check_architectures(const std::vector<std::string>& built, ProbeReport& report) {
  std::vector<std::string> found;
  for (const lra_device_info& device : report.devices) {
    if (built.empty() || std::find(built.begin(), built.end(), device.architecture) != built.end()) return;
    found.push_back(std::string(device.name) + " is " + device.architecture);
  }
  report.refuse(LRA_REASON_ARCHITECTURE, sdk::join(found) + "; the package has code for " + sdk::join(built),
                "Install a build of the plugin and of torch for this architecture");
}

/// Whether the torch that is there was built for Intel's GPUs.
void check_torch(const sdk::TorchBuild& torch, ProbeReport& report) {
  if (torch.directory.empty()) return;
  if (!torch.holds("libtorch_xpu.so")) {
    return report.refuse(
        LRA_REASON_TORCH, torch.text() + " has no libtorch_xpu.so: it is not built for Intel GPUs",
        "Install torch's XPU build (its version ends in +xpu) in an environment of its own and name its torch/lib with "
        "--torch_dir or LEROBOT_TORCH_DIR");
  }
  const std::string sycl = sycl_library(torch.directory);
  if (sycl.empty() || is_installed(sycl, torch.directory)) return;
  report.refuse(library_missing(sycl, "libc10_xpu.so of torch"));
}

/// What a user should know of usable GPUs.
void remark_on(const std::vector<Gpu>& all, const std::vector<Gpu>& used, ProbeReport& report) {
  if (used.front().integrated) report.remark("integrated graphics, with the host's memory");
  if (used.size() < all.size()) {
    const std::string selector = assignment("ONEAPI_DEVICE_SELECTOR");
    report.remark(std::to_string(used.size()) + " of " + std::to_string(all.size()) +
                  " GPUs are used: " + (selector.empty() ? "" : selector + "; ") +
                  "torch takes the discrete cards of one driver, integrated graphics only without them");
  }
  const auto without = std::find_if(used.begin(), used.end(), [](const Gpu& gpu) { return !gpu.has_matrix_units; });
  if (without != used.end()) {
    report.remark(std::string(without->info.name) + " is not known to have matrix units (XMX): bf16 works, slowly");
  }
}

Unavailable hidden_by_selector(const Survey& survey) {
  return {LRA_REASON_HIDDEN_BY_ENVIRONMENT,
          assignment("ONEAPI_DEVICE_SELECTOR") + " hides every Intel GPU; Level Zero has " +
              survey.gpus.front().info.name +
              (survey.gpus.size() == 1 ? "" : " and " + std::to_string(survey.gpus.size() - 1) + " more"),
          "Unset ONEAPI_DEVICE_SELECTOR, or let one through: level_zero:0"};
}

/// The GPUs that torch takes; throws Unavailable when there is none.
std::vector<Gpu> find_gpus(const Survey& survey) {
  if (!survey.loader) throw without_loader(survey.loader);
  if (!survey.missing_function.empty()) {
    throw Unavailable{LRA_REASON_DRIVER_TOO_OLD,
                      "the Level Zero loader " + survey.loader.name() + " has no " + survey.missing_function +
                          ", needed " + version_text(kOldestApi) + " or newer",
                      "Update the loader: package level-zero (libze1 on Debian)"};
  }
  if (survey.result != kSuccess && survey.result != kUninitialized) throw call_failed(survey);
  if (survey.gpus.empty() && survey.too_old_api != 0) {
    throw Unavailable{LRA_REASON_DRIVER_TOO_OLD,
                      "Intel's driver speaks Level Zero " + version_text(survey.too_old_api) + ", needed " +
                          version_text(kOldestApi) + " or newer",
                      "Update Intel's compute driver: package intel-level-zero-gpu (libze-intel-gpu1)"};
  }
  if (survey.gpus.empty()) throw no_gpu(survey);
  const std::vector<Gpu> used = torch_gpus(survey.gpus);
  if (used.empty()) throw hidden_by_selector(survey);
  return used;
}

ProbeReport look(const ProbeRequest& request) {
  ProbeReport report;
  try {
    const Survey survey = survey_gpus();
    const std::vector<Gpu> used = find_gpus(survey);
    report.driver_version = used.front().driver_text;
    for (const Gpu& gpu : used) {
      report.devices.push_back(gpu.info);
      report.devices.back().ordinal = static_cast<std::uint32_t>(report.devices.size() - 1);
    }
    check_architectures(request.device_archs, report);
    if (report.usable()) check_torch(sdk::find_torch_build(request.torch_directory, request.torch_version), report);
    if (report.usable()) remark_on(survey.gpus, used, report);
  } catch (const Unavailable& unavailable) {
    report.refuse(unavailable);
  }
  return report;
}

}  // namespace
}  // namespace lerobot::plugins::xpu

LRA_EXPORT lra_status lra_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error) {
  return lerobot::sdk::answer_probe(args, result, error, lerobot::plugins::xpu::look);
}
