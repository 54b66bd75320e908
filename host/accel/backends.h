#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lerobot::accel {

/// A backend that this project ships a plugin for.
struct Backend {
  std::string_view id;          ///< of its plugin
  std::string_view vendor;      ///< what people call the maker
  std::string_view pci_vendor;  ///< on the bus; empty where there is none
};

/// In the order in which `auto` tries them; third parties come after them, the processor last. This table is the only
/// place in the host that knows a backend by name: all else comes from manifests and probes.
inline constexpr Backend kBackends[] = {
    {"cuda", "NVIDIA", "10de"}, {"rocm", "AMD", "1002"}, {"mps", "Apple", ""}, {"xpu", "Intel", "8086"}};

/// Device type and plugin id of the processor that runs the program: always there, never an accelerator.
inline constexpr std::string_view kProcessor = "cpu";

/// Place in the order of `auto` of every plugin that the table does not know.
inline constexpr int kThirdPartyRank = static_cast<int>(std::size(kBackends));

/// Place of a plugin in the order of `auto`.
constexpr int rank_of(std::string_view plugin_id) {
  if (plugin_id == kProcessor) return kThirdPartyRank + 1;
  const auto found = std::ranges::find(kBackends, plugin_id, &Backend::id);
  return static_cast<int>(found - std::begin(kBackends));
}

}  // namespace lerobot::accel
