#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "host/config/train_config.h"

namespace lerobot::config {

/// What the command line of lerobot-train asks for.
struct TrainCommand {
  TrainConfig config;
  HostOptions host;
  /// The device was typed on the command line: it must be honoured or refused, never replaced.
  bool device_typed = false;
  /// Part of accelerator.grad_scaler was typed: a resumed run, whose scaler has a state of its own, must refuse it.
  bool grad_scaler_typed = false;
  /// Where the files of a policy.pretrained_path lie that is a name on the hub.
  std::optional<std::filesystem::path> pretrained_directory;
  /// With resume: the checkpoint (`.../checkpoints/<step>`) that --config_path means, absolute.
  std::optional<std::filesystem::path> checkpoint;
};

/// How names on the hub ("org/name") become files on this machine. Without these functions such names are refused.
struct HubNames {
  /// The directory with config.json and model.safetensors. An empty revision is the newest.
  std::function<std::filesystem::path(const std::string& repo_id, const std::string& revision)> policy;
  /// The train_config.json of a run.
  std::function<std::filesystem::path(const std::string& repo_id)> train_config;
  /// Puts a run's newest checkpoint below `run` and gives its directory there, `.../checkpoints/<step>`.
  std::function<std::filesystem::path(const std::string& repo_id, const std::filesystem::path& run)> checkpoint;
};

/// Parses the arguments after the program's name. Prints help to `out` and returns nothing when help was asked for.
/// Throws Error: kUsage for an unknown flag or bad value (with the nearest name), kConfig for a setting that cannot be
/// honoured. Warnings (unsupported values in a stored file, unknown keys in it) go to the log.
std::optional<TrainCommand> parse_train_command(const std::vector<std::string>& arguments, std::ostream& out,
                                                const HubNames& hub = {});

/// The text of train_config.json (indent 4, as LeRobot writes it).
std::string train_config_json(const TrainConfig& config);
/// The text of config.json.
std::string policy_config_json(const PolicyConfig& policy);
/// Reads a config.json. `path` is for messages. Throws Error(kCheckpoint or kConfig).
PolicyConfig read_policy_config(const std::filesystem::path& path);

}  // namespace lerobot::config
