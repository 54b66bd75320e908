#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/accel/search.h"

namespace lerobot::accel {

/// The libtorch that a plugin brings into the process.
struct TorchRuntime {
  std::string version;              ///< "2.11.0"; empty: the plugin uses no torch
  std::filesystem::path directory;  ///< where its libraries lie
  std::vector<std::filesystem::path>
      preload;  ///< absolute, in the order in which they are opened; the plugin's own last
};

/// Where an external torch lies: --torch_dir, else LEROBOT_TORCH_DIR, else the manifest's default.
struct TorchOptions {
  std::optional<std::string> directory;  ///< --torch_dir
  Variables variables = trusted_variables();
};

/// Finds the plugin's libtorch; `packages` are all that were found. Throws Error(kDevice) with reason and cure: another
/// package that is missing, a directory without libtorch, a preloaded file that is missing or leaves its package.
/// `plugin` must have a manifest.
TorchRuntime resolve_torch(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& options);

/// <libraries>/lerobot/trainer/<major.minor>/liblerobot_trainer.so for a torch version; throws Error(kDevice) that
/// names the versions present and the command that builds the missing one.
std::filesystem::path trainer_library(const std::filesystem::path& libraries, const std::string& torch_version);

}  // namespace lerobot::accel
