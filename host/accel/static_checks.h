#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/accel/search.h"
#include "host/accel/torch_runtime.h"

namespace lerobot::accel {

/// What a plugin's files are, once they have passed.
struct CheckedPlugin {
  std::filesystem::path library;  ///< absolute, links resolved
  std::filesystem::path probe;    ///< the thin library, or `library` when there is none
  bool thin = true;
  TorchRuntime torch;
  std::string problem;  ///< of the full library (its torch, the trainer for it, what it links): only the probe can run
};

/// Everything that can be known without running code of the plugin: machine, ABI range, files present, private and of
/// this machine's architecture, hashes, missing dependencies, torch and its trainer. Throws Error(kDevice) with reason
/// and cure at the first that does not fit; what concerns the full library alone goes to `problem` when there is a thin
/// one, since "no driver" says more to somebody without the hardware than "no torch". `plugin` must have a manifest.
/// Files above 4 MiB are hashed only when `hash_everything`: that takes seconds for a whole libtorch.
CheckedPlugin check_statically(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& torch,
                               const std::filesystem::path& libraries, bool hash_everything);

}  // namespace lerobot::accel
