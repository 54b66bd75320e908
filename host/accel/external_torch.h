#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/accel/manifest.h"
#include "host/accel/search.h"

namespace lerobot::accel {

/// Where a torch that no package brings may lie.
struct TorchOptions {
  std::optional<std::string> directory;  ///< --torch_dir
  Variables variables = trusted_variables();
};

/// One place where a torch of the user's may lie.
struct TorchPlace {
  std::filesystem::path directory;  ///< of its libraries
  std::string origin;   ///< for people: "--torch_dir", "LEROBOT_TORCH_DIR", "the active environment /home/a/env"
  std::string version;  ///< "2.11.0+cu130"; empty when it does not say
  std::string problem;  ///< why the plugin cannot use it, with the cure; empty: it can
};

struct ExternalTorch {
  std::optional<TorchPlace> chosen;
  std::vector<TorchPlace> rejected;  ///< that stood before the chosen one, or all
};

/// The user's torch for a plugin whose manifest says `"torch": {"external": ...}`: the first that fits of --torch_dir,
/// LEROBOT_TORCH_DIR, the manifest's directory, the active Python environment (VIRTUAL_ENV, then CONDA_PREFIX). The
/// first two are the user's word: when one is given, nothing after it is tried. Only file names and small text files
/// are read; nothing is loaded, and nothing is ever written there.
ExternalTorch find_external_torch(const Manifest& plugin, const TorchOptions& options);

/// Version of the torch whose libraries lie in `directory`, with its build tag, from the text files that torch installs
/// (torch/version.py of a wheel, build-version of a libtorch archive). Empty when there are none.
std::string installed_torch_version(const std::filesystem::path& directory);

}  // namespace lerobot::accel
