// Level Zero 1.x, as far as it is called by this plugin: written from its specification, whose layouts never change.
// Every struct starts with its type's number.
#pragma once

#include <lerobot_accel.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sdk/driver.h"
#include "sdk/failure.h"

namespace lerobot::plugins::xpu {

using Handle = void*;
using Result = std::uint32_t;

/// Results of Level Zero's functions that mean something of their own here.
inline constexpr Result kSuccess = 0;
inline constexpr Result kDependencyUnavailable = 0x7002'0000;
inline constexpr Result kUninitialized = 0x7800'0001;  // no driver, or a driver that sees no device
inline constexpr Result kUnsupportedVersion = 0x7800'0002;

inline constexpr std::uint32_t kInitGpuOnly = 1;
inline constexpr std::uint32_t kDeviceTypeGpu = 1;
inline constexpr std::uint32_t kIntegrated = 1;                      // DeviceProperties.flags
inline constexpr std::uint32_t kModuleFp16 = 1, kModuleFp64 = 2;     // ModuleProperties.flags
inline constexpr std::uint32_t kMaxDrivers = 64, kMaxDevices = 512;  // more is a broken driver

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

  /// Takes the functions from the loader. The name of the first that it lacks; empty: none.
  std::string bind(const sdk::DriverLibrary& loader);
};

/// "ZE_RESULT_ERROR_DEVICE_LOST", a number for those that mean nothing here.
std::string result_text(Result result);

/// A call of Level Zero that failed.
struct CallFailed {
  const char* call;
  Result result;
};

inline void check(Result result, const char* call) {
  if (result != kSuccess) throw CallFailed{call, result};
}

/// What a list function of Level Zero gives: it is first asked for the count, then for the elements. Throws
/// Failure(LRA_INTERNAL) for more than `most`.
template <typename Element, typename List>
std::vector<Element> elements_of(List&& list, std::uint32_t most, const char* call) {
  std::uint32_t count = 0;
  check(list(&count, nullptr), call);
  if (count > most) {
    throw sdk::Failure(LRA_INTERNAL, std::string(call) + " answers " + std::to_string(count) + " elements");
  }
  std::vector<Element> elements(count);
  if (count != 0) check(list(&count, elements.data()), call);
  elements.resize(std::min<std::size_t>(count, elements.size()));
  return elements;
}

}  // namespace lerobot::plugins::xpu
