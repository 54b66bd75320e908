#pragma once

#include <map>
#include <string>

#include "host/accel/search.h"

namespace lerobot::accel {

/// Plugins whose activation failed earlier in this run, with the reason; from the variable that restart_without sets.
/// Anything else in that variable is ignored.
std::map<std::string, std::string> excluded_plugins(const Variables& variables);

/// Replaces this process by the same program with the same arguments, which will not take plugin `id`. One process can
/// hold one torch only, so a failed activation cannot be followed by a second one. Each restart excludes one more
/// plugin, so their number is bounded. Throws Error(kInternal) when the system refuses.
[[noreturn]] void restart_without(const std::string& id, const std::string& reason);

}  // namespace lerobot::accel
