#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/accel/search.h"

namespace lerobot::accel {

/// Plugins whose activation failed earlier in this run, with the reason; from the variable that a restart sets.
/// Anything else in that variable is ignored.
std::map<std::string, std::string> excluded_plugins(const Variables& variables);

/// The same program with the same arguments, which will not take plugin `id`. One process can hold one torch only, so a
/// failed activation cannot be followed by a second one. Each restart excludes one more plugin, so their number is
/// bounded. All memory is made ready here, so that `run` may be called where nothing can be relied on.
class Restart {
 public:
  Restart(const std::string& id, const std::string& reason);

  /// Replaces this process; returns only when the system refuses (errno). Safe in a signal handler.
  void run() noexcept;

 private:
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<char*> argument_pointers_;
  std::vector<char*> environment_pointers_;
};

/// Restart::run. Throws Error(kInternal) when the system refuses.
[[noreturn]] void restart_without(const std::string& id, const std::string& reason);

}  // namespace lerobot::accel
