#pragma once

#include <filesystem>
#include <string>

#include "host/config/node.h"

namespace lerobot::config {

/// The mapping in a config.json. One without a type takes it from the train_config.json beside it, with a warning.
/// Throws Error(kCheckpoint) for a file that cannot be read.
Node read_policy_node(const std::filesystem::path& file);

/// The config.json in the directory that --policy.path names. Throws Error(kConfig) saying what was looked for.
std::filesystem::path find_policy_file(const std::string& path);

}  // namespace lerobot::config
