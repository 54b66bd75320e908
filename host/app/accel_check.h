#pragma once

#include <string>
#include <vector>

namespace lerobot {

/// lerobot-accel check: `arguments` are those after the command's name. Returns the exit code; throws Error(kUsage).
int run_check_command(const std::vector<std::string>& arguments);

}  // namespace lerobot
