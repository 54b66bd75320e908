#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/accel/external_torch.h"
#include "host/accel/search.h"

namespace lerobot::accel {

/// The libtorch that a plugin brings into the process.
struct TorchRuntime {
  std::string version;              ///< "2.11.0"; empty: the plugin uses no torch
  std::filesystem::path directory;  ///< where its libraries lie
  bool external = false;            ///< the user's, with its headers; a package holds libraries alone
  std::string origin;               ///< for people: which package or setting it comes from, and why
  std::vector<std::filesystem::path>
      preload;          ///< absolute, in the order in which they are opened; the plugin's own last
  std::string problem;  ///< why it cannot be used, with the cure; empty when it can
};

/// Finds the plugin's libtorch; `packages` are all that were found. Never throws for what it finds: `problem` says
/// what is wrong (another package missing, a directory without libtorch, a build for other hardware, a file that is
/// missing or leaves its package), so that the plugin can still be probed. `plugin` must have a manifest.
TorchRuntime resolve_torch(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& options);

/// <libraries>/lerobot/trainer/<major.minor>/liblerobot_trainer.so for a torch; throws Error(kDevice) that names the
/// versions present and the command that builds the missing one.
std::filesystem::path trainer_library(const std::filesystem::path& libraries, const TorchRuntime& torch);

}  // namespace lerobot::accel
