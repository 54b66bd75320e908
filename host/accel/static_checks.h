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
};

/// Everything that can be known without running code of the plugin and that its probe needs: machine, ABI range, files
/// present, private and of this machine's architecture, hashes, missing dependencies; for a package without a thin
/// library why_not_loadable too. Throws Error(kDevice) with reason and cure at the first that does not fit. `plugin`
/// must have a manifest.
/// Files above 4 MiB are hashed only when `hash_everything`: that takes seconds for a whole libtorch.
CheckedPlugin check_statically(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& torch,
                               const std::filesystem::path& libraries, bool hash_everything);

/// What would keep the full library from being opened: its torch, no trainer for that torch, a library that nobody
/// provides. Empty when nothing would. Asked after a thin probe found a device: "no driver" says more to somebody
/// without the hardware than "no torch", and following what a vendor's torch links reads dozens of files.
std::string why_not_loadable(const CheckedPlugin& plugin, const std::filesystem::path& libraries);

}  // namespace lerobot::accel
