#pragma once

#include <initializer_list>
#include <vector>

namespace lerobot::train {

/// While it lives, these signals (SIGTERM, SIGINT) ask the run to stop where that loses nothing, instead of killing it.
/// A second one of the same kind has its ordinary effect. One may live inside another.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::initializer_list<int> signals);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that asked to stop, or 0.
  static int signal();
  /// SIGTERM or Ctrl-C.
  static const char* name(int signal);
  /// The exit code of a run that a signal stopped and that can go on: kExitRestart, or 130 for Ctrl-C.
  static int exit_code(int signal);

 private:
  struct Handler {
    int signal;
    void (*before)(int);
  };
  std::vector<Handler> handlers_;
};

}  // namespace lerobot::train
