#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lerobot::accel {

/// The range of the contract's versions that a plugin speaks.
struct AbiRange {
  std::uint32_t major_min = 0;
  std::uint32_t major_max = 0;
  std::uint32_t minor = 0;
};

/// Where a package's libtorch comes from.
struct TorchSource {
  enum class Kind {
    kNone,       ///< the plugin needs no torch
    kDirectory,  ///< a directory inside the package
    kPackage,    ///< another package, of kind torch
    kExternal,   ///< --torch_dir, LEROBOT_TORCH_DIR, or a directory the manifest names
  };
  Kind kind = Kind::kNone;
  std::string value;  ///< directory or package id; may be empty for kExternal
};

/// What a package says about itself (docs/plugin-manifest.md). All paths are relative and stay inside the package.
struct Manifest {
  enum class Kind { kPlugin, kTorch };

  std::string id;
  std::string name;
  std::string version;
  Kind kind = Kind::kPlugin;
  AbiRange abi;
  std::optional<std::string> probe;
  std::string library;
  TorchSource torch;
  std::string torch_version;                 ///< "2.11.0"; empty when there is no torch
  std::vector<std::string> torch_libraries;  ///< names in the directory of an external torch, opened after libtorch_cpu
  std::vector<std::string> preload;
  std::vector<std::string> architectures;
  std::vector<std::string> device_archs;
  std::vector<std::string> device_types;
  std::vector<std::string> visible_devices;  ///< variables that hide devices, in the order of their application
  bool automatic = false;
  std::int64_t priority = 0;
  std::vector<std::pair<std::string, std::string>> sha256;  ///< file, 64 hex digits
};

/// Reads DIRECTORY/manifest.json, trusting nothing in it: a regular file of bounded size, the known schema, bounded
/// strings and lists, paths inside the package. Throws Error(kDevice) with one line that says what is wrong.
Manifest read_manifest(const std::filesystem::path& directory);

/// The text of a manifest.json, with the same distrust.
Manifest parse_manifest(std::string_view text);

/// Refuses a file or directory that others could have changed: writable by everybody, or by a group that is not its
/// owner's own (group id equal to the owner's id, the convention of private groups). Throws Error(kDevice).
void require_private(const std::filesystem::path& path);

/// The absolute path of a file that the manifest names, links resolved. Throws Error(kDevice) when it is missing or a
/// link leads out of the package.
std::filesystem::path package_file(const std::filesystem::path& package, const std::string& file);

/// "2.11.0+cu130" -> "2.11". Empty when `version` does not start with two numbers.
std::string major_minor(std::string_view version);

}  // namespace lerobot::accel
