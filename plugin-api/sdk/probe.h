// A plugin's thin library in C++: say what was found, the rest is done here.
#pragma once

#include <lerobot_accel.h>

#include <string>
#include <vector>

#include "sdk/text.h"

namespace lerobot::sdk {

struct ProbeRequest {
  std::string package_directory;
  std::vector<std::string> device_archs;  ///< that the package has code for; empty: no restriction
  std::string torch_directory;            ///< libraries of the torch that the plugin would run on; empty: none
  std::string torch_version;              ///< of that torch, e.g. "2.11.0+cu130"; may be empty
};

/// Why a plugin cannot run here; thrown by a search for devices that ends without any.
struct Unavailable {
  std::uint32_t code = LRA_REASON_OTHER;
  std::string reason;
  std::string cure;
};

/// Usable when `reason_code` is LRA_REASON_NONE.
struct ProbeReport {
  std::uint32_t reason_code = LRA_REASON_NONE;
  std::string reason;
  std::string hint;
  std::string driver_version;
  std::vector<lra_device_info> devices;

  bool usable() const { return reason_code == LRA_REASON_NONE; }
  /// Makes it unavailable.
  void refuse(std::uint32_t code, std::string why, std::string cure);
  void refuse(const Unavailable& why);
  /// Adds what a user should know although it works.
  void remark(const std::string& text);
};

/// "Tesla V100 (sm_70), Tesla T4 (sm_75)".
std::string device_list(const std::vector<lra_device_info>& devices);

/// The whole of lra_probe: checks the arguments, calls `look` and copies its report into the caller's buffers.
lra_status answer_probe(const lra_probe_args* args, lra_probe_result* result, lra_error* error,
                        ProbeReport (*look)(const ProbeRequest&)) noexcept;

}  // namespace lerobot::sdk
