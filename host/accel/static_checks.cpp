#include "host/accel/static_checks.h"

#include <algorithm>

#include "host/accel/abi.h"
#include "host/accel/dependencies.h"
#include "host/accel/elf.h"
#include "host/accel/sha256.h"
#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kQuickHashBytes = 4 << 20;

void check_machine(const Manifest& manifest) {
  const auto& list = manifest.architectures;
  if (list.empty() || std::ranges::find(list, own_architecture()) != list.end()) return;
  fail(ErrorKind::kDevice, "runs on {}, this machine is {}. Install the package for {}", join(list, ", "),
       own_architecture(), own_architecture());
}

void check_abi(const AbiRange& abi) {
  if (abi.major_min <= kAbiMajorMax && abi.major_max >= kAbiMajorMin) return;
  const bool newer = abi.major_min > kAbiMajorMax;
  fail(ErrorKind::kDevice, "speaks plugin ABI {} to {}, this program {} to {}. Install a newer {}", abi.major_min,
       abi.major_max, kAbiMajorMin, kAbiMajorMax, newer ? "program" : "plugin");
}

fs::path check_library(const Package& plugin, const std::string& file) {
  fs::path path = package_file(plugin.directory, file);
  require_private(path);
  const ElfInfo elf = read_elf(path);
  if (elf.architecture != own_architecture()) {
    fail(ErrorKind::kDevice, "{}: is for {}, this machine is {}. Install the package for {}", file, elf.architecture,
         own_architecture(), own_architecture());
  }
  return path;
}

void check_hashes(const Package& package, bool hash_everything) {
  for (const auto& [file, expected] : package.manifest->sha256) {
    const fs::path path = package_file(package.directory, file);
    if (!hash_everything && fs::file_size(path) > kQuickHashBytes) continue;
    const std::string found = sha256_file(path);
    if (found == expected) continue;
    fail(ErrorKind::kDevice, "{}: its SHA-256 is {}..., the manifest says {}.... Reinstall the package", file,
         found.substr(0, 12), expected.substr(0, 12));
  }
}

void check_dependencies(const fs::path& library, const std::vector<fs::path>& provided) {
  std::vector<std::string> chains;
  for (const MissingLibrary& missing : missing_libraries(library, provided)) {
    chains.push_back(format("{} (needed by {})", missing.chain.back(),
                            join({missing.chain.begin(), missing.chain.end() - 1}, " -> ")));
  }
  if (!chains.empty()) {
    fail(ErrorKind::kDevice, "missing: {}. Install the package that has it", join(chains, "; "));
  }
}

}  // namespace

CheckedPlugin check_statically(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& torch,
                               const fs::path& libraries, bool hash_everything) {
  const Manifest& manifest = *plugin.manifest;
  check_machine(manifest);
  check_abi(manifest.abi);
  CheckedPlugin checked;
  checked.library = check_library(plugin, manifest.library);
  checked.thin = manifest.probe.has_value();
  checked.probe = checked.thin ? check_library(plugin, *manifest.probe) : checked.library;
  check_hashes(plugin, hash_everything);
  for (const Package& other : packages) {
    const bool its_torch = manifest.torch.kind == TorchSource::Kind::kPackage && other.id == manifest.torch.value;
    if (its_torch && other.manifest && !other.shadowed_by) check_hashes(other, hash_everything);
  }
  if (checked.thin) check_dependencies(checked.probe, {});
  checked.torch = resolve_torch(plugin, packages, torch);
  if (checked.thin) return checked;
  if (const std::string problem = why_not_loadable(checked, libraries); !problem.empty()) {
    fail(ErrorKind::kDevice, "{}", problem);
  }
  return checked;
}

std::string why_not_loadable(const CheckedPlugin& plugin, const fs::path& libraries) {
  if (!plugin.torch.problem.empty()) return plugin.torch.problem;
  try {
    if (!plugin.torch.version.empty()) trainer_library(libraries, plugin.torch);
    std::vector<fs::path> opened;
    for (const fs::path& file : plugin.torch.preload) {
      check_dependencies(file, opened);
      opened.push_back(file);
    }
    check_dependencies(plugin.library, opened);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace lerobot::accel
