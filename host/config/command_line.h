#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/config/node.h"
#include "host/config/train_config.h"

namespace lerobot::config {

/// What was typed, sorted, before files are read.
struct CommandLine {
  Node settings;  ///< a mapping with LeRobot's settings, as typed
  HostOptions host;
  std::optional<std::string> config_path;
  std::optional<std::string> policy_path;
};

bool asks_for_help(const std::vector<std::string>& arguments);
bool asks_for_version(const std::vector<std::string>& arguments);

/// Reads `--name=value` and `--name value`. The last of two equal names wins; --config_path may stand once.
/// Throws Error(kUsage), for an unknown name with the nearest one.
CommandLine read_command_line(const std::vector<std::string>& arguments);

/// The value of a flag as typed, without looking at anything else: what the help is scoped by.
std::optional<std::string> typed_value(const std::vector<std::string>& arguments, const std::string& name);

}  // namespace lerobot::config
