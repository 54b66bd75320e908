// Intel GPUs as Level Zero shows them; shared by the thin and the full library, so without torch.
#pragma once

#include <lerobot_accel.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/driver.h"

namespace lerobot::plugins::xpu {

/// The oldest driver interface that is asked: the PCI address came with it.
inline constexpr std::uint32_t kOldestApi = 0x1'0003;  // 1.3

struct Gpu {
  lra_device_info info;     ///< the torch fields are left as the probe leaves them
  std::uint32_t driver;     ///< index of the driver that gives it out
  bool integrated;          ///< part of the processor, with the host's memory
  bool has_matrix_units;    ///< XMX
  std::string driver_text;  ///< version of that driver
};

/// What Level Zero shows of this machine, up to the first thing that goes wrong.
struct Survey {
  sdk::DriverLibrary loader{"libze_loader.so.1"};
  std::string missing_function;   ///< that the loader does not export
  std::string failed_call;        ///< with its result; empty when all went well
  std::uint32_t result = 0;       ///< of failed_call
  std::uint32_t too_old_api = 0;  ///< interface version of a driver that was left out for it; 0: none
  std::vector<Gpu> gpus;          ///< in the driver's order, ZE_AFFINITY_MASK applied by the driver
};

/// Asks Level Zero. Throws Failure(LRA_INTERNAL) for answers that make no sense.
Survey survey_gpus();

/// Those that torch takes, in its order: the discrete ones of the first driver that has any, else the integrated ones
/// of the first driver; ONEAPI_DEVICE_SELECTOR applied before.
std::vector<Gpu> torch_gpus(const std::vector<Gpu>& gpus);

/// "1.3" of 0x10003.
std::string version_text(std::uint32_t api_version);

}  // namespace lerobot::plugins::xpu
