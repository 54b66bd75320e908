#include "host/accel/torch_runtime.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

constexpr char kTorchLibrary[] = "libtorch_cpu.so";

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
/// LD_LIBRARY_PATH outranks that, so its OpenMP runtime is opened first.
std::vector<fs::path> external_preload(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
    if (glob_match("libgomp*.so*", it->path().filename().string())) files.push_back(it->path());
  }
  std::ranges::sort(files);
  for (const char* name : {"libc10.so", kTorchLibrary}) files.push_back(directory / name);
  return files;
}

fs::path external_directory(const Package& plugin, const TorchOptions& options) {
  const auto variable = options.variables.find("LEROBOT_TORCH_DIR");
  const std::string directory = options.directory                     ? *options.directory
                                : variable != options.variables.end() ? variable->second
                                                                      : plugin.manifest->torch.value;
  if (directory.empty()) {
    fail(ErrorKind::kDevice, "needs torch {} of your own. Name its lib directory with --torch_dir or LEROBOT_TORCH_DIR",
         plugin.manifest->torch_version);
  }
  fs::path path = fs::absolute(directory);
  std::error_code ec;
  if (!fs::exists(path / kTorchLibrary, ec) && fs::exists(path / "lib" / kTorchLibrary, ec)) path /= "lib";
  if (!fs::exists(path / kTorchLibrary, ec)) {
    fail(ErrorKind::kDevice, "{}: holds no {}. Name a libtorch {} with --torch_dir or LEROBOT_TORCH_DIR", path.string(),
         kTorchLibrary, plugin.manifest->torch_version);
  }
  return fs::canonical(path);
}

void append(std::vector<fs::path>& files, const std::vector<fs::path>& more) {
  files.insert(files.end(), more.begin(), more.end());
}

}  // namespace

TorchRuntime resolve_torch(const Package& plugin, const std::vector<Package>& packages, const TorchOptions& options) {
  const Manifest& manifest = *plugin.manifest;
  TorchRuntime torch;
  switch (manifest.torch.kind) {
    case TorchSource::Kind::kNone:
      break;
    case TorchSource::Kind::kDirectory:
      torch.directory = package_file(plugin.directory, manifest.torch.value);
      torch.version = manifest.torch_version;
      break;
    case TorchSource::Kind::kPackage: {
      const Package& other = torch_package(plugin, packages);
      torch.directory = package_file(other.directory, other.manifest->torch.value);
      torch.version = other.manifest->torch_version;
      torch.preload = preload_of(other);
      break;
    }
    case TorchSource::Kind::kExternal:
      torch.directory = external_directory(plugin, options);
      torch.version = manifest.torch_version;
      torch.preload = external_preload(torch.directory);
      break;
  }
  if (major_minor(torch.version) != major_minor(manifest.torch_version)) {
    fail(ErrorKind::kDevice, "was built with torch {}, the package {} holds {}. Install matching releases of the two",
         manifest.torch_version, manifest.torch.value, torch.version);
  }
  append(torch.preload, preload_of(plugin));
  return torch;
}

fs::path trainer_library(const fs::path& libraries, const std::string& torch_version) {
  const fs::path root = libraries / "lerobot/trainer";
  const std::string wanted = major_minor(torch_version);
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
       "needs the trainer for torch {}; installed: {}. Build it: cmake --preset release -DLIBTORCH_ROOT=<torch {}> "
       "&& "
       "cmake --build --preset release --target lerobot_trainer",
       wanted, present.empty() ? "none" : join(present, ", "), wanted);
}

}  // namespace lerobot::accel
