#pragma once

#include <string>

namespace lerobot::accel {

/// While it lives, a crash of this process (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) or a call of exit() is the fault
/// of the plugin that is being started: its libraries, its init, its selftest. A plugin that was chosen automatically
/// is then left out and the program starts again; one that was asked for ends the program with one line and the exit
/// code of a device error. At most one guard lives at a time; the handlers before it come back with its end.
class CrashGuard {
 public:
  CrashGuard(const std::string& plugin_id, bool replaceable);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;
};

}  // namespace lerobot::accel
