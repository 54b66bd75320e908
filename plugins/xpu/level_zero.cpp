#include "level_zero.h"

#include <cstdio>

namespace lerobot::plugins::xpu {

std::string LevelZero::bind(const sdk::DriverLibrary& loader) {
  std::string missing;
  loader.bind(init, "zeInit", missing);
  loader.bind(drivers, "zeDriverGet", missing);
  loader.bind(api_version, "zeDriverGetApiVersion", missing);
  loader.bind(driver_properties, "zeDriverGetProperties", missing);
  loader.bind(devices, "zeDeviceGet", missing);
  loader.bind(device_properties, "zeDeviceGetProperties", missing);
  loader.bind(memory, "zeDeviceGetMemoryProperties", missing);
  loader.bind(pci, "zeDevicePciGetPropertiesExt", missing);
  loader.bind(module, "zeDeviceGetModuleProperties", missing);
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

}  // namespace lerobot::plugins::xpu
