#pragma once

namespace lerobot::train {

/// While it lives, SIGINT and SIGTERM ask the run to stop after the current update instead of killing it. A second
/// signal has its ordinary effect. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that asked to stop, or 0.
  static int signal();
};

}  // namespace lerobot::train
