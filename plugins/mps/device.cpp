#include "device.h"

#include <cstdio>

#include "sdk/failure.h"

namespace lerobot::plugins::mps {
namespace {

// The Objective-C runtime and Metal, as far as they are called here. objc_msgSend is called as a function of each
// method's own type: its arguments travel as that method expects them.
using Object = void*;
using Selector = void*;

struct Metal {
  Object (*all_devices)();  // an array, owned by the caller
  Selector (*selector)(const char*);
  void (*send)();
  void* (*push_pool)();
  void (*pop_pool)(void*);
};

/// The name of the first function that is missing; empty: none.
std::string bind(const Survey& survey, Metal& metal) {
  std::string missing;
  survey.metal.bind(metal.all_devices, "MTLCopyAllDevices", missing);
  survey.runtime.bind(metal.selector, "sel_registerName", missing);
  survey.runtime.bind(metal.send, "objc_msgSend", missing);
  survey.runtime.bind(metal.push_pool, "objc_autoreleasePoolPush", missing);
  survey.runtime.bind(metal.pop_pool, "objc_autoreleasePoolPop", missing);
  return missing;
}

template <typename Result, typename... Arguments>
Result send(const Metal& metal, Object object, const char* method, Arguments... arguments) {
  const auto function = reinterpret_cast<Result (*)(Object, Selector, Arguments...)>(metal.send);
  return function(object, metal.selector(method), arguments...);
}

/// A BOOL, whatever the architecture makes of it.
bool answers_yes(const Metal& metal, Object object, const char* method) {
  return send<signed char>(metal, object, method) != 0;
}

std::string text(const Metal& metal, Object string) {
  const char* const bytes = string == nullptr ? nullptr : send<const char*>(metal, string, "UTF8String");
  return bytes == nullptr ? "" : bytes;
}

/// The number of the highest Apple family that the GPU belongs to (7: M1, 8: M2, 9: M3, ...); 0: none, a Mac with
/// another vendor's card.
int apple_family(const Metal& metal, Object device) {
  constexpr long kApple = 1000;  // MTLGPUFamilyApple1 is 1001
  for (int family = 15; family > 0; --family) {
    if (send<signed char>(metal, device, "supportsFamily:", kApple + family) != 0) return family;
  }
  return 0;
}

lra_device_info describe(const Metal& metal, Object device, const std::string& system_version) {
  // Metal converts bfloat16 on families before 9, and knows it from macOS 14 on; it has no float64 at all.
  const int family = apple_family(metal, device);
  const std::uint64_t bf16 = !at_least(system_version, 14, 0) ? 0
                             : family >= 9                    ? LRA_CAP_BF16_NATIVE
                                                              : LRA_CAP_BF16_EMULATED;
  lra_device_info info{};
  info.struct_size = sizeof(info);
  info.capabilities =
      LRA_CAP_FP16_NATIVE | bf16 | (answers_yes(metal, device, "hasUnifiedMemory") ? LRA_CAP_UNIFIED_MEMORY : 0);
  info.memory_total = send<std::uint64_t>(metal, device, "recommendedMaxWorkingSetSize");
  sdk::copy_text(info.name, text(metal, send<Object>(metal, device, "name")));
  sdk::copy_text(info.architecture, family == 0 ? "mac" : "apple" + std::to_string(family));
  return info;
}

/// As torch chooses: the first that is not a low-power one.
void ask(const Metal& metal, Survey& survey) {
  const Object devices = metal.all_devices();
  if (devices == nullptr) return;
  const auto count = send<unsigned long>(metal, devices, "count");
  if (count > 64) throw sdk::Failure(LRA_INTERNAL, "Metal answers " + std::to_string(count) + " devices");
  for (unsigned long i = 0; i < count && !survey.gpu; ++i) {
    const Object device = send<Object>(metal, devices, "objectAtIndex:", i);
    if (answers_yes(metal, device, "isLowPower")) {
      survey.low_power.push_back(text(metal, send<Object>(metal, device, "name")));
    } else {
      survey.gpu = describe(metal, device, survey.system_version);
    }
  }
  send<void>(metal, devices, "release");
}

std::string macos_version() {
  const sdk::DriverLibrary system{"/usr/lib/libSystem.B.dylib", "libSystem.B.dylib"};
  const auto sysctl = system.function<int (*)(const char*, void*, std::size_t*, void*, std::size_t)>("sysctlbyname");
  char version[64] = "";
  std::size_t size = sizeof version - 1;
  if (sysctl == nullptr || sysctl("kern.osproductversion", version, &size, nullptr, 0) != 0) return "";
  return version;
}

}  // namespace

Survey survey_gpu() {
  Survey survey;
  if (!survey.metal || !survey.runtime) return survey;
  Metal metal{};
  survey.missing_function = bind(survey, metal);
  if (!survey.missing_function.empty()) return survey;
  survey.system_version = macos_version();
  void* const pool = metal.push_pool();
  ask(metal, survey);
  metal.pop_pool(pool);
  return survey;
}

bool at_least(const std::string& version, int major, int minor) {
  int found_major = 0, found_minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &found_major, &found_minor) < 1) return false;
  return found_major > major || (found_major == major && found_minor >= minor);
}

}  // namespace lerobot::plugins::mps
