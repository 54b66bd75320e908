#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "sdk/failure.h"

namespace lerobot::plugins::xpu {
namespace {

// Level Zero 1.x, as far as it is called here: written from its specification, whose layouts never change.
// Every struct starts with its type's number.
using Handle = void*;
using Result = std::uint32_t;

constexpr std::uint32_t kInitGpuOnly = 1;
constexpr std::uint32_t kDeviceTypeGpu = 1;
constexpr std::uint32_t kIntegrated = 1;                      // DeviceProperties.flags
constexpr std::uint32_t kModuleFp16 = 1, kModuleFp64 = 2;     // ModuleProperties.flags
constexpr std::uint32_t kMaxDrivers = 64, kMaxDevices = 512;  // more is a broken driver

struct DriverProperties {
  std::uint32_t type = 0x1;
  void* next = nullptr;
  std::uint8_t uuid[16] = {};
  std::uint32_t version = 0;
};

struct IpVersion {  // extends DeviceProperties; drivers that do not know it leave it alone
  std::uint32_t type = 0x1000f;
  const void* next = nullptr;
  std::uint32_t version = 0;
};

struct DeviceProperties {
  std::uint32_t type = 0x3;
  void* next = nullptr;
  std::uint32_t device_type = 0;
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::uint32_t flags = 0;
  std::uint32_t subdevice_id = 0;
  std::uint32_t core_clock = 0;
  std::uint64_t max_allocation = 0;
  std::uint32_t max_contexts = 0;
  std::uint32_t max_priority = 0;
  std::uint32_t geometry[5] = {};
  std::uint64_t timer_resolution = 0;
  std::uint32_t timestamp_bits[2] = {};
  std::uint8_t uuid[16] = {};
  char name[256] = {};
};

struct MemoryProperties {
  std::uint32_t type = 0x7;
  void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t clock = 0;
  std::uint32_t bus_width = 0;
  std::uint64_t total = 0;
  char name[256] = {};
};

struct PciProperties {
  std::uint32_t type = 0x10008;
  void* next = nullptr;
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
  std::int32_t generation = 0, width = 0;
  std::int64_t bandwidth = 0;
};

struct ModuleProperties {
  std::uint32_t type = 0x5;
  void* next = nullptr;
  std::uint32_t spirv_version = 0;
  std::uint32_t flags = 0;
  std::uint32_t float_flags[3] = {};
  std::uint32_t max_arguments = 0;
  std::uint32_t printf_buffer = 0;
  std::uint8_t native_kernel_uuid[16] = {};
};

static_assert(sizeof(DriverProperties) == 40 && sizeof(IpVersion) == 24 && sizeof(DeviceProperties) == 368 &&
              sizeof(MemoryProperties) == 296 && sizeof(PciProperties) == 48 && sizeof(ModuleProperties) == 64);

struct LevelZero {
  Result (*init)(std::uint32_t);
  Result (*drivers)(std::uint32_t*, Handle*);
  Result (*api_version)(Handle, std::uint32_t*);
  Result (*driver_properties)(Handle, DriverProperties*);
  Result (*devices)(Handle, std::uint32_t*, Handle*);
  Result (*device_properties)(Handle, DeviceProperties*);
  Result (*memory)(Handle, std::uint32_t*, MemoryProperties*);
  Result (*pci)(Handle, PciProperties*);
  Result (*module)(Handle, ModuleProperties*);
};

/// The name of the first function that the loader lacks; empty: none.
std::string bind(const sdk::DriverLibrary& loader, LevelZero& api) {
  std::string missing;
  const auto take = [&](auto& function, const char* name) {
    function = loader.function<std::remove_reference_t<decltype(function)>>(name);
    if (function == nullptr && missing.empty()) missing = name;
  };
  take(api.init, "zeInit");
  take(api.drivers, "zeDriverGet");
  take(api.api_version, "zeDriverGetApiVersion");
  take(api.driver_properties, "zeDriverGetProperties");
  take(api.devices, "zeDeviceGet");
  take(api.device_properties, "zeDeviceGetProperties");
  take(api.memory, "zeDeviceGetMemoryProperties");
  take(api.pci, "zeDevicePciGetPropertiesExt");
  take(api.module, "zeDeviceGetModuleProperties");
  return missing;
}

std::string result_text(Result result) {
  switch (result) {
    case 0x7000'0001:
      return "ZE_RESULT_ERROR_DEVICE_LOST";
    case 0x7001'0000:
      return "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS";
    case kDependencyUnavailable:
      return "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE";
    case kUninitialized:
      return "ZE_RESULT_ERROR_UNINITIALIZED";
    case kUnsupportedVersion:
      return "ZE_RESULT_ERROR_UNSUPPORTED_VERSION";
    default: {
      char text[16];
      snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(result));
      return text;
    }
  }
}

/// A call of Level Zero that failed; ends the survey.
struct CallFailed {
  const char* call;
  Result result;
};

void check(Result result, const char* call) {
  if (result != kSuccess) throw CallFailed{call, result};
}

/// The handles that a Level Zero list function gives: first asked for the count, then for the elements.
template <typename List>
std::vector<Handle> handles(List&& list, std::uint32_t most, const char* call) {
  std::uint32_t count = 0;
  check(list(&count, nullptr), call);
  if (count > most) {
    throw sdk::Failure(LRA_INTERNAL, std::string(call) + " answers " + std::to_string(count) + " elements");
  }
  std::vector<Handle> elements(count);
  if (count != 0) check(list(&count, elements.data()), call);
  elements.resize(std::min<std::size_t>(count, elements.size()));
  return elements;
}

/// "1.6.33578" of the number in which Intel's driver packs it.
std::string driver_text(std::uint32_t version) {
  return std::to_string(version >> 24) + "." + std::to_string(version >> 16 & 0xff) + "." +
         std::to_string(version & 0xffff);
}

/// What is known of a GPU's matrix units by its IP version (12.55: major 12, release 55).
struct Family {
  std::uint32_t major;
  std::uint32_t release;
  const char* name;   // as Intel's offline compiler calls it
  bool matrix_units;  // XMX: bf16 and fp16 products
  bool tf32;          // XMX that take TF32
};
constexpr Family kFamilies[] = {
    {12, 55, "acm-g10", true, false}, {12, 56, "acm-g11", true, false}, {12, 57, "acm-g12", true, false},
    {12, 60, "pvc", true, true},      {12, 61, "pvc-vg", false, false}, {12, 70, "mtl-u", false, false},
    {12, 71, "mtl-h", false, false},  {12, 74, "arl-h", true, false},   {20, 1, "bmg-g21", true, true},
    {20, 4, "lnl-m", true, true},
};

Family family(std::uint32_t ip_version) {
  const std::uint32_t major = ip_version >> 22;
  const std::uint32_t release = ip_version >> 14 & 0xff;
  for (const Family& known : kFamilies) {
    if (known.major == major && known.release == release) return known;
  }
  return {major, release, "", major >= 20, major >= 20};  // from Xe2 on, all have them
}

std::string architecture(std::uint32_t ip_version) {
  const Family known = family(ip_version);
  if (ip_version == 0 || *known.name != '\0') return known.name;
  return std::to_string(known.major) + "." + std::to_string(known.release) + "." + std::to_string(ip_version & 0x3f);
}

std::string uuid_text(const std::uint8_t (&uuid)[16]) {
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    char byte[4];
    snprintf(byte, sizeof byte, "%02x", uuid[i]);
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(byte);
  }
  return text;
}

std::uint64_t memory_total(const LevelZero& api, Handle device) {
  std::uint32_t count = 0;
  check(api.memory(device, &count, nullptr), "zeDeviceGetMemoryProperties");
  if (count > kMaxDevices) throw sdk::Failure(LRA_INTERNAL, "zeDeviceGetMemoryProperties answers too many memories");
  std::vector<MemoryProperties> memories(count);
  if (count != 0) check(api.memory(device, &count, memories.data()), "zeDeviceGetMemoryProperties");
  std::uint64_t total = 0;
  for (const MemoryProperties& memory : memories) total += memory.total;
  return total;
}

std::uint64_t capabilities(const ModuleProperties& module, const Family& known, bool integrated) {
  return (integrated ? LRA_CAP_UNIFIED_MEMORY : 0) | ((module.flags & kModuleFp64) != 0 ? LRA_CAP_FLOAT64 : 0) |
         ((module.flags & kModuleFp16) != 0 ? LRA_CAP_FP16_NATIVE : 0) |
         (known.matrix_units ? LRA_CAP_BF16_NATIVE : LRA_CAP_BF16_EMULATED) | (known.tf32 ? LRA_CAP_TF32 : 0);
}

/// The address is worth less than the device: without it the text stays empty.
std::string pci_address(const LevelZero& api, Handle device) {
  PciProperties pci;
  if (api.pci(device, &pci) != kSuccess) return "";
  char text[32];
  snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
  return text;
}

/// Appends the device when it is a GPU (the loader also gives out NPUs).
void add_gpu(std::vector<Gpu>& gpus, const LevelZero& api, Handle device, std::uint32_t driver,
             const std::string& version) {
  IpVersion ip;
  DeviceProperties properties;
  properties.next = &ip;
  check(api.device_properties(device, &properties), "zeDeviceGetProperties");
  if (properties.device_type != kDeviceTypeGpu) return;
  ModuleProperties module;
  check(api.module(device, &module), "zeDeviceGetModuleProperties");

  const Family known = family(ip.version);
  Gpu gpu{{}, driver, (properties.flags & kIntegrated) != 0, known.matrix_units, version};
  gpu.info.struct_size = sizeof(gpu.info);
  gpu.info.capabilities = capabilities(module, known, gpu.integrated);
  gpu.info.memory_total = memory_total(api, device);
  sdk::copy_text(gpu.info.name, {properties.name, strnlen(properties.name, sizeof properties.name)});
  sdk::copy_text(gpu.info.uuid, uuid_text(properties.uuid));
  sdk::copy_text(gpu.info.pci_address, pci_address(api, device));
  sdk::copy_text(gpu.info.architecture, architecture(ip.version));
  gpus.push_back(std::move(gpu));
}

void ask(const LevelZero& api, Survey& survey) {
  check(api.init(kInitGpuOnly), "zeInit");
  const auto drivers = handles(api.drivers, kMaxDrivers, "zeDriverGet");
  for (std::uint32_t i = 0; i < drivers.size(); ++i) {
    std::uint32_t version = 0;
    check(api.api_version(drivers[i], &version), "zeDriverGetApiVersion");
    if (version < kOldestApi) {
      survey.too_old_api = version;
      continue;
    }
    DriverProperties properties;
    check(api.driver_properties(drivers[i], &properties), "zeDriverGetProperties");
    const auto list = [&](std::uint32_t* count, Handle* devices) { return api.devices(drivers[i], count, devices); };
    for (Handle device : handles(list, kMaxDevices, "zeDeviceGet")) {
      add_gpu(survey.gpus, api, device, i, driver_text(properties.version));
    }
  }
}

bool device_term_takes(std::string_view term, std::size_t index) {
  const std::string_view root = term.substr(0, term.find('.'));  // "1.0" is a part of GPU 1
  return root == "*" || root == "gpu" || root == std::to_string(index);
}

/// One "backend:device,device" of ONEAPI_DEVICE_SELECTOR, in lower case.
bool filter_takes(std::string_view filter, std::size_t index) {
  const std::string_view backend = filter.substr(0, filter.find(':'));
  if (backend != "*" && backend != "level_zero") return false;
  std::string_view rest = backend.size() < filter.size() ? filter.substr(backend.size() + 1) : "*";
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (device_term_takes(rest.substr(0, comma), index)) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

}  // namespace

Survey survey_gpus() {
  Survey survey;
  if (!survey.loader) return survey;
  LevelZero api{};
  survey.missing_function = bind(survey.loader, api);
  if (!survey.missing_function.empty()) return survey;
  try {
    ask(api, survey);
  } catch (const CallFailed& failed) {
    survey.failed_call = std::string(failed.call) + ": " + result_text(failed.result);
    survey.result = failed.result;
  }
  return survey;
}

bool selects(std::string_view selector, std::size_t index) {
  std::string text(selector);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  bool accepts = false, accepted = false, discarded = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    std::string_view filter = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (filter.empty()) continue;
    if (filter.front() == '!') {
      discarded = discarded || filter_takes(filter.substr(1), index);
    } else {
      accepts = true;
      accepted = accepted || filter_takes(filter, index);
    }
  }
  return (accepted || !accepts) && !discarded;
}

std::vector<Gpu> torch_gpus(const std::vector<Gpu>& gpus) {
  const std::string selector = sdk::environment("ONEAPI_DEVICE_SELECTOR").value;
  std::vector<Gpu> selected;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (selects(selector, i)) selected.push_back(gpus[i]);
  }
  if (selected.empty()) return selected;
  const auto discrete = std::find_if(selected.begin(), selected.end(), [](const Gpu& gpu) { return !gpu.integrated; });
  const Gpu leader = discrete != selected.end() ? *discrete : selected.front();
  selected.erase(std::remove_if(selected.begin(), selected.end(),
                                [&](const Gpu& gpu) {
                                  return gpu.integrated != leader.integrated || gpu.driver != leader.driver;
                                }),
                 selected.end());
  return selected;
}

std::string version_text(std::uint32_t api_version) {
  return std::to_string(api_version >> 16) + "." + std::to_string(api_version & 0xffff);
}

}  // namespace lerobot::plugins::xpu
