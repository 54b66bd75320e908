#include "device.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>

#include "sdk/driver.h"
#include "sdk/failure.h"
#include "visibility.h"

namespace lerobot::plugins::rocm {
namespace {

using sdk::Unavailable;

// HIP's interface, as far as it is the same in every version: hip_runtime_api.h. The struct of hipGetDeviceProperties
// and the numbers of hipDeviceGetAttribute are not.
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kInsufficientDriver = 35;
constexpr Result kNoDevice = 100;
constexpr int kMostDevices = 1024;
struct Uuid {
  char bytes[16];
};

[[noreturn]] void makes_no_sense(const std::string& what) {
  throw sdk::Failure(LRA_INTERNAL, "HIP's runtime makes no sense: " + what, "Reinstall ROCm.");
}

/// A HIP runtime that is mapped already (by torch): a second copy would not see its state.
std::string mapped_runtime() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* image, std::size_t, void* found) {
        const std::string name = image->dlpi_name == nullptr ? "" : image->dlpi_name;
        const bool is_hip = name.find("/libamdhip64.so") != std::string::npos;
        if (is_hip) *static_cast<std::string*>(found) = name;
        return is_hip ? 1 : 0;
      },
      &path);
  return path;
}

std::vector<std::string> runtime_names(const std::string& torch_directory) {
  std::vector<std::string> names;
  if (const std::string mapped = mapped_runtime(); !mapped.empty()) names.push_back(mapped);
  if (!torch_directory.empty()) {
    for (const std::string& name : sdk::directory_entries(torch_directory)) {
      if (name.rfind("libamdhip64.so", 0) == 0) names.push_back(torch_directory + "/" + name);
    }
  }
  for (const char* directory : {"", "/opt/rocm/lib/"}) {
    for (const char* version : {".7", ".6", ".5", ""}) {
      names.push_back(std::string(directory) + "libamdhip64.so" + version);
    }
  }
  return names;
}

class Runtime {
 public:
  explicit Runtime(const std::string& torch_directory) : library_(runtime_names(torch_directory)) {}

  const sdk::DriverLibrary& library() const { return library_; }

  /// Calls a function of the runtime; anything but success is Unavailable.
  template <typename... Parameters, typename... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const Result result = try_call<Parameters...>(name, arguments...);
    if (result == kSuccess) return;
    throw Unavailable{LRA_REASON_OTHER, name + (" answers " + error_text(result)),
                      "See whether rocminfo answers, and the kernel's log (dmesg | grep amdgpu)"};
  }

  template <typename... Parameters, typename... Arguments>
  Result try_call(const char* name, Arguments... arguments) const {
    const auto function = library_.function<Result (*)(Parameters...)>(name);
    if (function == nullptr) {
      throw Unavailable{LRA_REASON_DRIVER_TOO_OLD,
                        library_.name() + " exports no " + name + ", which HIP 5 and later does",
                        "Install ROCm 6 or later"};
    }
    return function(arguments...);
  }

  /// "hipErrorInvalidValue (1)".
  std::string error_text(Result result) const {
    const auto name_of = library_.function<const char* (*)(Result)>("hipGetErrorName");
    const char* name = name_of == nullptr ? nullptr : name_of(result);
    return name == nullptr ? "error " + std::to_string(result)
                           : std::string(name) + " (" + std::to_string(result) + ")";
  }

 private:
  sdk::DriverLibrary library_;
};

/// What the kernel shows: its GPUs and the nodes through which they are used.
struct Machine {
  std::string root = sdk::sysroot();
  std::vector<GpuNode> gpus = read_topology(root);
  sdk::NodeAccess kfd = sdk::check_node(root + "/dev/kfd");
  Visibility visibility = visibility_from_environment();

  /// "2 GPUs (gfx942, gfx942)".
  std::string gpu_text() const {
    if (gpus.empty()) return "no GPU";
    std::vector<std::string> names;
    for (const GpuNode& gpu : gpus) names.push_back(gpu.architecture);
    return std::to_string(gpus.size()) + (gpus.size() == 1 ? " GPU (" : " GPUs (") + sdk::join(names) + ")";
  }

  std::string render_node(const GpuNode& gpu) const {
    return root + "/dev/dri/renderD" + std::to_string(gpu.render_minor);
  }
};

constexpr char kContainerCure[] = "Start a container with --device=/dev/kfd --device=/dev/dri";

/// A node that is there and that this user may not open. Of render nodes one that works is enough.
std::optional<sdk::NodeAccess> forbidden_node(const Machine& machine) {
  if (machine.kfd.present && !machine.kfd.permitted) return machine.kfd;
  std::optional<sdk::NodeAccess> forbidden;
  for (const GpuNode& gpu : machine.gpus) {
    if (gpu.render_minor < 0) continue;
    const sdk::NodeAccess node = sdk::check_node(machine.render_node(gpu));
    if (node.permitted) return std::nullopt;
    if (node.present && !forbidden) forbidden = node;
  }
  return forbidden;
}

/// The kernel has GPUs whose render nodes are all absent here.
bool render_nodes_absent(const Machine& machine) {
  return !machine.gpus.empty() && std::all_of(machine.gpus.begin(), machine.gpus.end(), [&](const GpuNode& gpu) {
    return gpu.render_minor >= 0 && !sdk::check_node(machine.render_node(gpu)).present;
  });
}

/// An AMD display or compute device on the bus.
bool amd_on_the_bus(const std::string& root) {
  const std::string bus = root + "/sys/bus/pci/devices";
  for (const std::string& device : sdk::directory_entries(bus)) {
    if (sdk::read_text(bus + "/" + device + "/vendor") != "0x1002") continue;
    const std::string kind = sdk::read_text(bus + "/" + device + "/class").substr(0, 4);
    if (kind == "0x03" || kind == "0x12") return true;
  }
  return false;
}

Unavailable not_permitted(const sdk::NodeAccess& node) {
  return {LRA_REASON_NOT_PERMITTED, "no permission: " + node.explanation, node.cure};
}

Unavailable no_runtime(const sdk::DriverLibrary& library, const Machine& machine) {
  if (library.lacks_dependency()) {
    return {LRA_REASON_LIBRARY_MISSING, library.missing() + ", needed by " + library.name() + ", is not installed",
            "Reinstall ROCm, or the torch that brought it"};
  }
  if (library.missing().empty()) {
    return {LRA_REASON_OTHER, library.name() + " does not open: " + library.problem(), "Reinstall ROCm"};
  }
  if (!machine.gpus.empty() || machine.kfd.present) {
    return {LRA_REASON_NO_DRIVER,
            "the kernel's driver shows " + machine.gpu_text() + ", but HIP's runtime libamdhip64.so is not installed",
            "Name a torch built for ROCm (it brings the runtime) with LEROBOT_TORCH_DIR, or install ROCm"};
  }
  return {LRA_REASON_NO_DRIVER, "no AMD driver: libamdhip64.so is not installed and /dev/kfd is not there",
          "With an AMD GPU in this machine, install ROCm and load the kernel module amdgpu"};
}

/// HIP's runtime answers and shows no device.
Unavailable no_device(const Machine& machine) {
  if (!machine.kfd.present && !machine.gpus.empty()) {
    return {LRA_REASON_NO_DEVICE, "/dev/kfd is not there, although the kernel's driver shows " + machine.gpu_text(),
            kContainerCure};
  }
  if (!machine.kfd.present && amd_on_the_bus(machine.root)) {
    return {LRA_REASON_NO_DEVICE, "an AMD GPU is on the bus, but /dev/kfd is not there",
            std::string("Load the kernel module (modprobe amdgpu). ") + kContainerCure};
  }
  if (!machine.kfd.present) {
    return {LRA_REASON_NO_DEVICE, "HIP's runtime knows no device and /dev/kfd is not there",
            "With an AMD GPU in this machine, load the kernel module amdgpu"};
  }
  if (render_nodes_absent(machine)) {
    return {LRA_REASON_NO_DEVICE, "/dev/kfd is there, but no render node in /dev/dri of " + machine.gpu_text(),
            kContainerCure};
  }
  if (const std::string variables = applied_variables(machine.visibility); !variables.empty()) {
    return {LRA_REASON_HIDDEN_BY_ENVIRONMENT,
            variables + " hides every AMD device" +
                (machine.gpus.empty() ? "" : "; the kernel's driver shows " + machine.gpu_text()),
            "Set HIP_VISIBLE_DEVICES alone, to numbers that exist: 0"};
  }
  return {LRA_REASON_NO_DEVICE,
          "/dev/kfd may be used, but HIP's runtime lists no device; the kernel's driver shows " + machine.gpu_text(),
          "ROCm may not support this GPU: see rocminfo"};
}

std::string module_version(const Machine& machine) {
  const std::string version = sdk::read_text(machine.root + "/sys/module/amdgpu/version");
  return version.empty() ? "" : " " + version;
}

/// The runtime, started.
void start(const Runtime& runtime, const Machine& machine) {
  // Without permission HIP shows no device and does not say why.
  if (const auto node = forbidden_node(machine)) throw not_permitted(*node);
  if (!runtime.library()) throw no_runtime(runtime.library(), machine);
  const Result result = runtime.try_call<unsigned>("hipInit", 0U);
  if (result == kNoDevice) throw no_device(machine);
  if (result == kInsufficientDriver) {
    throw Unavailable{LRA_REASON_DRIVER_TOO_OLD,
                      "hipInit answers " + runtime.error_text(result) + ": the kernel module amdgpu" +
                          module_version(machine) + " is older than " + runtime.library().name() + " needs",
                      "Update the kernel or the amdgpu driver"};
  }
  if (result != kSuccess) {
    throw Unavailable{LRA_REASON_OTHER, "hipInit answers " + runtime.error_text(result),
                      "See whether rocminfo answers, and the kernel's log (dmesg | grep amdgpu)"};
  }
}

/// HIP counts 70051831 for 7.0.51831.
std::string driver_version(const Runtime& runtime) {
  int version = 0;
  runtime.call<int*>("hipDriverGetVersion", &version);
  if (version < 100000) makes_no_sense("its version is " + std::to_string(version));
  return "HIP " + std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100) + "." +
         std::to_string(version % 100000);
}

bool is_text(const Uuid& uuid) {
  return std::all_of(std::begin(uuid.bytes), std::end(uuid.bytes),
                     [](char byte) { return std::isxdigit(static_cast<unsigned char>(byte)) != 0; });
}

/// HIP gives the 16 hexadecimal digits that rocminfo shows as "GPU-...", as text.
std::string device_uuid(const Runtime& runtime, int device) {
  Uuid uuid{};
  const auto function = runtime.library().function<Result (*)(Uuid*, int)>("hipDeviceGetUuid");
  if (function == nullptr || function(&uuid, device) != kSuccess || !is_text(uuid)) return {};
  return "GPU-" + std::string(uuid.bytes, sizeof uuid.bytes);
}

std::string pci_address(const Runtime& runtime, int device) {
  std::array<char, 32> text{};
  runtime.call<char*, int, int>("hipDeviceGetPCIBusId", text.data(), int{text.size() - 1}, device);
  return sdk::lower_case(text.data());
}

/// "11.0.0" -> "gfx1100": what the runtime takes every device for.
std::string overridden_architecture() {
  const sdk::Variable variable = sdk::environment("HSA_OVERRIDE_GFX_VERSION");
  unsigned long major = 0, minor = 0, stepping = 0;
  const int read = std::sscanf(variable.value.c_str(), "%2lu.%2lu.%2lu", &major, &minor, &stepping);
  return read == 3 ? architecture_name(major * 10000 + minor * 100 + stepping) : std::string();
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return text.rfind(prefix, 0) == 0; });
}

std::uint64_t capabilities(const std::string& architecture, bool unified_memory) {
  std::uint64_t bits = LRA_CAP_FLOAT64 | LRA_CAP_FP16_NATIVE;
  // Matrix units: CDNA (MI100 and later), RDNA 3 and later.
  const bool bf16 = starts_with_any(architecture, {"gfx908", "gfx90a", "gfx94", "gfx95", "gfx11", "gfx12"});
  bits |= bf16 ? LRA_CAP_BF16_NATIVE : LRA_CAP_BF16_EMULATED;
  // TF32 is MI300's alone, and torch takes it only with this variable.
  if (architecture == "gfx942" && sdk::environment("HIPBLASLT_ALLOW_TF32").value == "1") bits |= LRA_CAP_TF32;
  return unified_memory ? bits | LRA_CAP_UNIFIED_MEMORY : bits;
}

lra_device_info describe(const Runtime& runtime, const Machine& machine, int ordinal) {
  int device = 0;
  runtime.call<int*, int>("hipDeviceGet", &device, ordinal);
  std::array<char, sizeof(lra_device_info::name)> name{};
  runtime.call<char*, int, int>("hipDeviceGetName", name.data(), int{name.size() - 1}, device);
  std::size_t memory = 0;
  runtime.call<std::size_t*, int>("hipDeviceTotalMem", &memory, device);
  const std::string address = pci_address(runtime, device);
  const auto gpu = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                                [&](const GpuNode& node) { return node.pci_address == address; });
  std::string architecture = overridden_architecture();
  if (architecture.empty() && gpu != machine.gpus.end()) architecture = gpu->architecture;

  lra_device_info info{};
  info.struct_size = sizeof info;
  info.ordinal = static_cast<std::uint32_t>(ordinal);
  info.capabilities = capabilities(architecture, gpu != machine.gpus.end() && gpu->unified_memory);
  info.memory_total = memory;
  sdk::copy_text(info.name, name.data());
  sdk::copy_text(info.pci_address, address);
  sdk::copy_text(info.uuid, device_uuid(runtime, device));
  sdk::copy_text(info.architecture, architecture);
  return info;
}

std::vector<lra_device_info> describe_all(const Runtime& runtime, const Machine& machine) {
  int count = 0;
  const Result result = runtime.try_call<int*>("hipGetDeviceCount", &count);
  if (result == kNoDevice || (result == kSuccess && count == 0)) throw no_device(machine);
  if (result != kSuccess) {
    throw Unavailable{LRA_REASON_OTHER, "hipGetDeviceCount answers " + runtime.error_text(result),
                      "See whether rocminfo answers"};
  }
  if (count < 0 || count > kMostDevices) makes_no_sense("it counts " + std::to_string(count) + " devices");
  std::vector<lra_device_info> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(describe(runtime, machine, ordinal));
  return devices;
}

/// What a user should know although it works.
void remark_visibility(const Machine& machine, sdk::ProbeReport& report) {
  report.remark(visibility_remark(machine.visibility));
  const std::string variables = applied_variables(machine.visibility);
  if (report.devices.size() < machine.gpus.size() && !variables.empty()) {
    report.remark(variables + " leaves " + std::to_string(report.devices.size()) + " of " + machine.gpu_text());
  }
  if (const std::string other = overridden_architecture(); !other.empty()) {
    report.remark("HSA_OVERRIDE_GFX_VERSION makes every device " + other);
  }
}

}  // namespace

sdk::ProbeReport ask_driver(const std::string& torch_directory) {
  sdk::ProbeReport report;
  try {
    const Machine machine;
    const Runtime runtime(torch_directory);
    start(runtime, machine);
    report.driver_version = driver_version(runtime);
    report.devices = describe_all(runtime, machine);
    remark_visibility(machine, report);
  } catch (const Unavailable& unavailable) {
    report.refuse(unavailable);
  }
  return report;
}

std::string hip_version(const std::string& driver_version) {
  constexpr char kPrefix[] = "HIP ";
  return driver_version.rfind(kPrefix, 0) == 0 ? driver_version.substr(sizeof kPrefix - 1) : std::string();
}

}  // namespace lerobot::plugins::rocm
