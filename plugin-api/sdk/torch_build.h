// For probes: what the torch that the plugin would run on was built for, found without loading it.
#pragma once

#include <string>

namespace lerobot::sdk {

/// A torch by its files. Empty texts: not known.
struct TorchBuild {
  std::string directory;  ///< of its libraries; empty: there is none
  std::string version;    ///< "2.11.0+cu130"
  std::string cuda;       ///< CUDA's version, "13.0"
  std::string hip;        ///< ROCm's version, "7.1"

  /// Whether a library lies in its directory.
  bool holds(const char* library) const;

  /// For messages: "torch 2.11.0+cu130 in /opt/torch/lib".
  std::string text() const;
};

/// Looks at the version's build tag, then at what torch's packages say of themselves beside the libraries: version.py
/// (the wheels) or build-version (the archives for C++). Either argument may be empty.
TorchBuild find_torch_build(const std::string& directory, const std::string& version);

/// "cu130" -> "13.0", "rocm7.1" -> "7.1"; empty when `tag` is not `prefix` and a number.
std::string version_of_tag(const std::string& tag, const std::string& prefix);

/// The number before the first dot; -1 for anything else.
int major_version(const std::string& version);

}  // namespace lerobot::sdk
