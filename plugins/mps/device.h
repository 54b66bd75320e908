// Apple's GPU as Metal shows it; shared by the thin and the full library, so without torch, and without a header of
// Apple's: everything is found at run time, so that the same code compiles, and is tested, on Linux.
#pragma once

#include <lerobot_accel.h>

#include <optional>
#include <string>
#include <vector>

#include "sdk/driver.h"

namespace lerobot::plugins::mps {

/// A framework lies at its path on macOS; by its bare name the loader finds it where a test has put it.
struct Survey {
  sdk::DriverLibrary metal{"/System/Library/Frameworks/Metal.framework/Metal", "Metal"};
  sdk::DriverLibrary runtime{"/usr/lib/libobjc.A.dylib", "libobjc.A.dylib"};
  std::string missing_function;        ///< that neither exports
  std::string system_version;          ///< of macOS, "14.5"; empty: not known
  std::optional<lra_device_info> gpu;  ///< the one that torch takes; the torch fields are left as the probe leaves them
  std::vector<std::string> low_power;  ///< names of those that torch does not take: graphics of Intel processors
};

/// Asks Metal. Throws Failure(LRA_INTERNAL) for answers that make no sense.
Survey survey_gpu();

/// Whether a version such as "14.5" is `major`.`minor` or newer; false for a text that is no version.
bool at_least(const std::string& version, int major, int minor);

}  // namespace lerobot::plugins::mps
