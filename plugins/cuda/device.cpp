#include "device.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>

#include "sdk/driver.h"
#include "sdk/failure.h"

namespace lerobot::plugins::cuda {
namespace {

using sdk::Unavailable;

// The driver's interface, as far as it is used: cuda.h of any toolkit.
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kStubLibrary = 34;
constexpr Result kNoDevice = 100;
constexpr Result kSystemNotReady = 802;
constexpr Result kDriverMismatch = 803;
constexpr Result kCompatNotSupported = 804;
constexpr int kIntegrated = 18;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kMostDevices = 1024;
struct Uuid {
  unsigned char bytes[16];
};

constexpr char kVariable[] = "CUDA_VISIBLE_DEVICES";

std::string hint_for(Result result) {
  switch (result) {
    case kStubLibrary:
      return "This is the CUDA toolkit's stub, for linking only: take its directory out of LD_LIBRARY_PATH";
    case kSystemNotReady:
      return "Start nvidia-fabricmanager, which this machine's NVLink switches need";
    case kDriverMismatch:
      return "The driver was updated while its kernel module was loaded: restart the machine";
    case kCompatNotSupported:
      return "The cuda-compat library is for data-center devices: take it out of LD_LIBRARY_PATH";
    default:
      return "See whether nvidia-smi answers, and the kernel's log (dmesg | grep NVRM)";
  }
}

class Driver {
 public:
  Driver()
      : library_({"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
                  "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1"}) {}

  const sdk::DriverLibrary& library() const { return library_; }

  /// Calls a function of the driver; anything but success is Unavailable.
  template <typename... Parameters, typename... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const Result result = try_call<Parameters...>(name, arguments...);
    if (result != kSuccess)
      throw Unavailable{LRA_REASON_OTHER, name + (" answers " + error_text(result)), hint_for(result)};
  }

  template <typename... Parameters, typename... Arguments>
  Result try_call(const char* name, Arguments... arguments) const {
    const auto function = library_.function<Result (*)(Parameters...)>(name);
    if (function == nullptr) {
      throw Unavailable{LRA_REASON_DRIVER_TOO_OLD,
                        library_.name() + " exports no " + name + ", which every NVIDIA driver since 2012 does",
                        "Install NVIDIA's driver anew"};
    }
    return function(arguments...);
  }

  /// "CUDA_ERROR_UNKNOWN (999)".
  std::string error_text(Result result) const {
    const auto name_of = library_.function<Result (*)(Result, const char**)>("cuGetErrorName");
    const char* name = nullptr;
    const bool known = name_of != nullptr && name_of(result, &name) == kSuccess && name != nullptr;
    return known ? std::string(name) + " (" + std::to_string(result) + ")" : "error " + std::to_string(result);
  }

 private:
  sdk::DriverLibrary library_;
};

[[noreturn]] void makes_no_sense(const std::string& what) {
  throw sdk::Failure(LRA_INTERNAL, "the NVIDIA driver makes no sense: " + what, "Reinstall the driver.");
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ..." -> "580.65.06"; empty where there is no such file.
std::string module_version() {
  const std::string text = sdk::read_text(sdk::sysroot() + "/proc/driver/nvidia/version");
  for (const std::string& word : sdk::split(text.substr(0, text.find('\n')), ' ')) {
    const bool is_number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_number && word.find('.') != std::string::npos) return word;
  }
  return {};
}

/// Devices that the kernel's module knows; nothing where it does not show them (WSL2, Jetson).
std::optional<std::size_t> devices_of_the_kernel() {
  const auto entries = sdk::directory_entries(sdk::sysroot() + "/proc/driver/nvidia/gpus");
  if (entries.empty()) return std::nullopt;
  return entries.size();
}

std::optional<sdk::NodeAccess> forbidden_node() {
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"}) {
    const sdk::NodeAccess node = sdk::check_node(sdk::sysroot() + path);
    if (node.present && !node.permitted) return node;
  }
  return std::nullopt;
}

Unavailable no_driver(const sdk::DriverLibrary& library) {
  if (library.lacks_dependency()) {
    return {LRA_REASON_LIBRARY_MISSING, library.missing() + ", needed by " + library.name() + ", is not installed",
            "Reinstall the NVIDIA driver's libraries"};
  }
  if (library.missing().empty()) {
    return {LRA_REASON_OTHER, library.name() + " does not open: " + library.problem(), "Reinstall the NVIDIA driver"};
  }
  const std::string version = module_version();
  const std::string root = sdk::sysroot();
  if (!version.empty() || sdk::check_node(root + "/dev/nvidiactl").present) {
    return {LRA_REASON_NO_DRIVER,
            "the NVIDIA kernel module" + (version.empty() ? "" : " " + version) +
                " is loaded, but the driver's library libcuda.so.1 is not installed",
            "Install the driver's libraries" + (version.empty() ? "" : " of version " + version) +
                "; start a container with --gpus all (NVIDIA Container Toolkit)"};
  }
  if (sdk::check_node(root + "/dev/dxg").present) {
    return {LRA_REASON_NO_DRIVER, "no NVIDIA driver: WSL shows no libcuda.so.1 in /usr/lib/wsl/lib",
            "Install NVIDIA's driver for Windows, not one inside WSL"};
  }
  return {LRA_REASON_NO_DRIVER, "no NVIDIA driver: libcuda.so.1 is not installed",
          "With an NVIDIA GPU in this machine, install its driver"};
}

/// Whether the variable leaves no device whatever the machine has: empty, or a first entry that names none.
bool hides_everything(const std::string& value) {
  return value.empty() || value[0] == '-' || value == "NoDevFiles";
}

/// The driver answers and shows no device.
Unavailable no_device() {
  if (const auto node = forbidden_node()) {
    return {LRA_REASON_NOT_PERMITTED, "no permission: " + node->explanation, node->cure};
  }
  const auto known = devices_of_the_kernel();
  const sdk::Variable visible = sdk::environment(kVariable);
  if (visible.set && (hides_everything(visible.value) || known)) {
    return {LRA_REASON_HIDDEN_BY_ENVIRONMENT,
            std::string(kVariable) + "=" + visible.value + " hides every NVIDIA device" +
                (known ? " (the kernel knows " + std::to_string(*known) + ")" : ""),
            std::string("Unset ") + kVariable + ", or name devices that exist: 0"};
  }
  if (known) {
    return {LRA_REASON_NO_DEVICE,
            "the NVIDIA driver shows no device, its kernel module knows " + std::to_string(*known),
            "Start a container with --gpus all; else see nvidia-smi and the kernel's log (dmesg | grep NVRM)"};
  }
  return {LRA_REASON_NO_DEVICE,
          "the NVIDIA driver knows no device" +
              (visible.set ? " (" + std::string(kVariable) + "=" + visible.value + ")" : ""),
          "See whether nvidia-smi lists one"};
}

void start(const Driver& driver) {
  if (!driver.library()) throw no_driver(driver.library());
  const Result result = driver.try_call<unsigned>("cuInit", 0U);
  if (result == kSuccess) return;
  if (result == kNoDevice) throw no_device();
  if (const auto node = forbidden_node()) {
    throw Unavailable{LRA_REASON_NOT_PERMITTED,
                      "cuInit answers " + driver.error_text(result) + ": " + node->explanation, node->cure};
  }
  throw Unavailable{LRA_REASON_OTHER, "cuInit answers " + driver.error_text(result), hint_for(result)};
}

std::string driver_version(const Driver& driver) {
  int version = 0;
  driver.call<int*>("cuDriverGetVersion", &version);
  if (version < 1000 || version > 1000000) makes_no_sense("its version is " + std::to_string(version));
  const std::string cuda = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const std::string module = module_version();
  return module.empty() ? cuda : module + " (" + cuda + ")";
}

std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(uuid.bytes[i]));
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::string device_uuid(const Driver& driver, int device) {
  Uuid uuid{};
  for (const char* name : {"cuDeviceGetUuid_v2", "cuDeviceGetUuid"}) {
    const auto function = driver.library().function<Result (*)(Uuid*, int)>(name);
    if (function != nullptr && function(&uuid, device) == kSuccess) return uuid_text(uuid);
  }
  return {};
}

/// The driver writes hexadecimal letters in upper case.
std::string pci_address(const Driver& driver, int device) {
  std::array<char, 32> text{};
  driver.call<char*, int, int>("cuDeviceGetPCIBusId", text.data(), int{text.size() - 1}, device);
  return sdk::lower_case(text.data());
}

int attribute(const Driver& driver, int which, int device) {
  int value = 0;
  driver.call<int*, int, int>("cuDeviceGetAttribute", &value, which, device);
  return value;
}

std::uint64_t capabilities(int major, int minor, bool integrated) {
  const int version = major * 10 + minor;
  const bool fast_fp16 = major >= 7 || version == 53 || version == 60 || version == 62;
  std::uint64_t bits = LRA_CAP_FLOAT64;
  bits |= major >= 8 ? LRA_CAP_BF16_NATIVE | LRA_CAP_TF32 : LRA_CAP_BF16_EMULATED;
  bits |= fast_fp16 ? LRA_CAP_FP16_NATIVE : LRA_CAP_FP16_EMULATED;
  return integrated ? bits | LRA_CAP_UNIFIED_MEMORY : bits;
}

lra_device_info describe(const Driver& driver, int ordinal) {
  int device = 0;
  driver.call<int*, int>("cuDeviceGet", &device, ordinal);
  std::array<char, sizeof(lra_device_info::name)> name{};
  driver.call<char*, int, int>("cuDeviceGetName", name.data(), int{name.size() - 1}, device);
  const int major = attribute(driver, kComputeCapabilityMajor, device);
  const int minor = attribute(driver, kComputeCapabilityMinor, device);
  if (major < 1 || major > 99 || minor < 0 || minor > 9) {
    makes_no_sense("device " + std::to_string(ordinal) + " has compute capability " + std::to_string(major) + "." +
                   std::to_string(minor));
  }
  std::size_t memory = 0;
  driver.call<std::size_t*, int>("cuDeviceTotalMem_v2", &memory, device);

  lra_device_info info{};
  info.struct_size = sizeof info;
  info.ordinal = static_cast<std::uint32_t>(ordinal);
  info.capabilities = capabilities(major, minor, attribute(driver, kIntegrated, device) == 1);
  info.memory_total = memory;
  sdk::copy_text(info.name, name.data());
  sdk::copy_text(info.pci_address, pci_address(driver, device));
  sdk::copy_text(info.uuid, device_uuid(driver, device));
  sdk::copy_text(info.architecture, "sm_" + std::to_string(major) + std::to_string(minor));
  return info;
}

std::vector<lra_device_info> describe_all(const Driver& driver) {
  int count = 0;
  driver.call<int*>("cuDeviceGetCount", &count);
  if (count < 0 || count > kMostDevices) makes_no_sense("it counts " + std::to_string(count) + " devices");
  if (count == 0) throw no_device();
  std::vector<lra_device_info> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(describe(driver, ordinal));
  return devices;
}

/// The number of "sm_90a" (90), nothing for another prefix. `exact` when an a follows: that code runs there only.
std::optional<int> arch_number(const std::string& arch, const std::string& prefix, bool* exact) {
  if (arch.rfind(prefix, 0) != 0) return std::nullopt;
  std::size_t end = prefix.size();
  int number = 0;
  for (; end < arch.size() && end < prefix.size() + 4 && std::isdigit(static_cast<unsigned char>(arch[end])) != 0;
       ++end) {
    number = number * 10 + (arch[end] - '0');
  }
  if (end == prefix.size()) return std::nullopt;
  *exact = end < arch.size() && arch[end] == 'a';
  return number;
}

}  // namespace

sdk::ProbeReport ask_driver() {
  sdk::ProbeReport report;
  try {
    const Driver driver;
    start(driver);
    report.driver_version = driver_version(driver);
    report.devices = describe_all(driver);
  } catch (const Unavailable& unavailable) {
    report.refuse(unavailable);
  }
  return report;
}

std::string supported_cuda(const std::string& driver_version) {
  const std::size_t begin = driver_version.find("CUDA ");
  if (begin == std::string::npos) return {};
  const std::size_t number = begin + 5;
  return driver_version.substr(number, driver_version.find(')', number) - number);
}

bool runs_on(const std::vector<std::string>& archs, const std::string& arch) {
  bool exact = false;
  const auto device = arch_number(arch, "sm_", &exact);
  if (!device) return false;
  return std::any_of(archs.begin(), archs.end(), [&](const std::string& code) {
    if (const auto machine = arch_number(code, "sm_", &exact)) {
      return exact ? *machine == *device : *machine / 10 == *device / 10 && *machine <= *device;
    }
    const auto portable = arch_number(code, "compute_", &exact);
    return portable && (exact ? *portable == *device : *portable <= *device);
  });
}

}  // namespace lerobot::plugins::cuda
