#pragma once

#include <string_view>
#include <vector>

namespace lerobot {

/// The exit code of a run that SIGTERM stopped, saved if there was anything to save: start it again, resumed. What
/// sysexits.h calls a temporary failure.
inline constexpr int kExitRestart = 75;

/// What each exit code of lerobot-train means, for its help and its documents.
struct ExitStatus {
  int code;
  std::string_view meaning;
};
const std::vector<ExitStatus>& exit_statuses();

}  // namespace lerobot
