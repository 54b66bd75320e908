#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "level_zero.h"
#include "sdk/failure.h"
#include "selector.h"

namespace lerobot::plugins::xpu {
namespace {

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
  const auto list = [&](std::uint32_t* count, MemoryProperties* memories) {
    return api.memory(device, count, memories);
  };
  std::uint64_t total = 0;
  for (const auto& memory : elements_of<MemoryProperties>(list, kMaxDevices, "zeDeviceGetMemoryProperties")) {
    total += memory.total;
  }
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
  const auto drivers = elements_of<Handle>(api.drivers, kMaxDrivers, "zeDriverGet");
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
    for (Handle device : elements_of<Handle>(list, kMaxDevices, "zeDeviceGet")) {
      add_gpu(survey.gpus, api, device, i, driver_text(properties.version));
    }
  }
}

}  // namespace

Survey survey_gpus() {
  Survey survey;
  if (!survey.loader) return survey;
  LevelZero api{};
  survey.missing_function = api.bind(survey.loader);
  if (!survey.missing_function.empty()) return survey;
  try {
    ask(api, survey);
  } catch (const CallFailed& failed) {
    survey.failed_call = std::string(failed.call) + ": " + result_text(failed.result);
    survey.result = failed.result;
  }
  return survey;
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
