#include "host/accel/torch_runtime.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> preload_of(const Package& package) {
  std::vector<fs::path> files;
  for (const std::string& file : package.manifest->preload) {
    files.push_back(package_file(package.directory, file));
    require_private(files.back());
  }
  return files;
}

const Package& torch_package(const Package& plugin, const std::vector<Package>& packages) {
  const std::string& id = plugin.manifest->torch.value;
  const auto found = std::ranges::find_if(packages, [&](const Package& package) {
    return package.id == id && !package.shadowed_by && (package.manifest || !package.problem.empty());
  });
  if (found == packages.end()) {
    fail(ErrorKind::kDevice, "needs the package {}, which is not installed. Install it beside {}", id, plugin.id);
  }
  if (!found->manifest) fail(ErrorKind::kDevice, "needs the package {}, which is broken: {}", id, found->problem);
  if (found->manifest->kind != Manifest::Kind::kTorch) {
    fail(ErrorKind::kDevice, "takes its torch from the package {}, which is a plugin and not of kind torch", id);
  }
  return *found;
}

/// An external libtorch has no manifest: its libraries find what lies beside them through their RUNPATH ($ORIGIN), but
/// LD_LIBRARY_PATH outranks that, so its OpenMP runtime is opened first. The vendor's part comes last.
std::vector<fs::path> external_preload(const fs::path& directory, const std::vector<std::string>& vendor_libraries) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
    if (glob_match("libgomp*.so*", it->path().filename().string())) files.push_back(it->path());
  }
  std::ranges::sort(files);
  for (const char* name : {"libc10.so", "libtorch_cpu.so"}) files.push_back(directory / name);
  for (const std::string& name : vendor_libraries) files.push_back(directory / name);
  return files;
}

void take_package(const Package& other, const Manifest& plugin, TorchRuntime& torch) {
  torch.origin = "package " + other.id;
  torch.version = other.manifest->torch_version;
  torch.directory = package_file(other.directory, other.manifest->torch.value);
  torch.preload = preload_of(other);
  if (major_minor(torch.version) == major_minor(plugin.torch_version)) return;
  fail(ErrorKind::kDevice, "was built with torch {}, the package {} holds {}. Install matching releases of the two",
       plugin.torch_version, other.id, torch.version);
}

void take_external(const Manifest& plugin, const TorchOptions& options, TorchRuntime& torch) {
  const ExternalTorch found = find_external_torch(plugin, options);
  torch.external = true;
  if (found.chosen) {
    torch.origin = found.chosen->origin;
    torch.directory = found.chosen->directory;
    torch.version = found.chosen->version.empty() ? plugin.torch_version : found.chosen->version;
    torch.preload = external_preload(torch.directory, plugin.torch_libraries);
    return;
  }
  if (found.rejected.empty()) {
    fail(ErrorKind::kDevice,
         "needs a torch {} for {} of your own. Activate the Python environment that has it, or name its lib directory "
         "with --torch_dir or LEROBOT_TORCH_DIR",
         major_minor(plugin.torch_version), plugin.name);
  }
  // The probe may look at what is there and say more about it than the host can.
  torch.directory = found.rejected.front().directory;
  torch.version = found.rejected.front().version;
  std::vector<std::string> lines;
  for (const TorchPlace& place : found.rejected) {
    lines.push_back(format("{} ({}) {}", place.directory.string(), place.origin, place.problem));
  }
  fail(ErrorKind::kDevice, "its torch: {}", join(lines, "; "));
}

}  // namespace

TorchRuntime resolve_torch(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& options) {
  const Manifest& manifest = *plugin.manifest;
  TorchRuntime torch;
  try {
    switch (manifest.torch.kind) {
      case TorchSource::Kind::kNone:
        break;
      case TorchSource::Kind::kDirectory:
        torch.origin = "inside the package";
        torch.version = manifest.torch_version;
        torch.directory = package_file(plugin.directory, manifest.torch.value);
        break;
      case TorchSource::Kind::kPackage:
        take_package(torch_package(plugin, packages), manifest, torch);
        break;
      case TorchSource::Kind::kExternal:
        take_external(manifest, options, torch);
        break;
    }
    const std::vector<fs::path> own = preload_of(plugin);
    torch.preload.insert(torch.preload.end(), own.begin(), own.end());
  } catch (const Error& error) {
    torch.problem = error.what();
  }
  return torch;
}

fs::path trainer_library(const fs::path& libraries, const TorchRuntime& torch) {
  const fs::path root = libraries / "lerobot/trainer";
  const std::string wanted = major_minor(torch.version);
  if (wanted.empty()) fail(ErrorKind::kDevice, "the chosen plugin uses no torch, the trainer does. Choose another one");
  const fs::path library = root / wanted / "liblerobot_trainer.so";
  std::error_code ec;
  if (fs::exists(library, ec)) return library;
  std::vector<std::string> present;
  for (fs::directory_iterator it(root, ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
    if (fs::exists(it->path() / library.filename())) present.push_back(it->path().filename().string());
  }
  std::ranges::sort(present);
  fail(ErrorKind::kDevice,
       "needs the trainer for torch {}; installed: {}. Build it, in the program's source: scripts/build-for-torch {}",
       wanted, present.empty() ? "none" : join(present, ", "),
       torch.external ? shell_quote(torch.directory.string()) : wanted);
}

}  // namespace lerobot::accel
