// A plugin that keeps every promise but one: the environment variable LEROBOT_BROKEN names the one. Without it the
// plugin is in order, which is what shows that a check fails for the fault and for nothing else.
#pragma once

#include <lerobot_accel.h>

#include <cstdlib>
#include <string_view>

namespace broken {

/// Whether this fault was asked for.
inline bool fault(std::string_view name) {
  static const char* chosen = std::getenv("LEROBOT_BROKEN");
  return chosen != nullptr && name == chosen;
}

/// The table without a fault, which the faulty functions build on.
extern lra_api good;

/// Puts the chosen fault into a function of the table.
void spoil_functions(lra_api& api);
/// The same for faults in autocast, the scaler and the settings.
void spoil_training(lra_api& api);
/// The same for faults that need torch.
void spoil_with_torch(lra_api& api);

}  // namespace broken
