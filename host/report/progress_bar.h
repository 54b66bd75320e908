#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "host/base/log.h"

namespace lerobot::report {

/// A progress bar on a terminal's stderr; nothing elsewhere (the log lines tell it then) and nothing under Slurm.
/// Log lines are written above it. One that begins while another is shown takes its line, and leaves it at its end.
class ProgressBar {
 public:
  ProgressBar(std::string title, std::string unit, std::int64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Whether there is a terminal that it is drawn on.
  static bool is_shown();

  /// Redraws at most ten times a second.
  void advance(std::int64_t by = 1);

 private:
  void draw();
  void erase();

  std::string title_;
  std::string unit_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool enabled_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point drawn_;
  log::LineHook hook_;
  const log::LineHook* outer_ = nullptr;  ///< of the bar whose line this one took
};

/// The bar as text: `Training:  30%|###       | 3/10 [00:01<00:03, 2.5step/s]`.
std::string progress_text(const std::string& title, const std::string& unit, std::int64_t done, std::int64_t total,
                          double seconds);

}  // namespace lerobot::report
