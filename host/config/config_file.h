#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "host/config/decode.h"
#include "host/config/node.h"

namespace lerobot::config {

/// What --config_path means: a file, and the checkpoint it belongs to, if any.
struct ConfigPath {
  std::filesystem::path file;
  std::optional<std::filesystem::path> checkpoint;  ///< `.../checkpoints/<step>`, `last` replaced by the step it names
};

/// Accepts a configuration file, a directory with train_config.json, a pretrained_model directory, a step's directory
/// (or `last`), a checkpoints directory, and a run's directory. Throws Error(kConfig) that lists what was looked for
/// and the steps that exist.
ConfigPath find_config(const std::string& path);

/// Reads a configuration file: JSON only. Keys of old releases are translated. Throws Error(kConfig).
Node read_config(const std::filesystem::path& file);

/// Files named train_config.json or config.json were stored by a program, others written by a user.
Strictness strictness_of(const std::filesystem::path& file);

/// Whether the text is a name on the hub (`org/name`) and not a path: nothing of that name is here, nor a directory
/// that it would be in.
bool is_hub_name(const std::string& text);

}  // namespace lerobot::config
