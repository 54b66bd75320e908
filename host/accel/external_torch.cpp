#include "host/accel/external_torch.h"

#include <algorithm>
#include <fstream>

#include "host/base/format.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

constexpr char kTorchLibrary[] = "libtorch_cpu.so";

bool is_there(const fs::path& path) {
  std::error_code ec;
  return fs::exists(path, ec);
}

/// The first line of a small text file that begins with `start`, without it.
std::string line_after(const fs::path& path, std::string_view start) {
  std::ifstream file(path);
  constexpr int kLines = 64;
  std::string line;
  for (int i = 0; i < kLines && std::getline(file, line); ++i) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return "";
}

/// The characters of a version: whatever else the file holds cannot reach a message.
std::string version_characters(const std::string& text) {
  const auto is_version = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' ||
           c == '-' || c == '_';
  };
  const auto begin = std::find_if(text.begin(), text.end(), is_version);
  std::string version(begin, std::find_if_not(begin, text.end(), is_version));
  return version.size() <= 64 && !major_minor(version).empty() ? version : "";
}

/// Directories of torch's libraries in a Python environment, byte-wise by the Python's version.
std::vector<fs::path> in_environment(const fs::path& environment) {
  std::vector<fs::path> found;
  std::error_code ec;
  for (fs::directory_iterator it(environment / "lib", ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
    if (!it->path().filename().string().starts_with("python3")) continue;
    const fs::path libraries = it->path() / "site-packages/torch/lib";
    if (is_there(libraries / kTorchLibrary)) found.push_back(libraries);
  }
  std::ranges::sort(found);
  return found;
}

/// A directory named by a person may be torch's own (site-packages/torch, an unpacked libtorch) or its lib.
fs::path libraries_of(const std::string& directory) {
  const fs::path path = fs::absolute(directory).lexically_normal();
  return !is_there(path / kTorchLibrary) && is_there(path / "lib" / kTorchLibrary) ? path / "lib" : path;
}

/// "libtorch_x.so, libtorch_y.so": which of torch's vendor libraries are there, to tell what it was built for.
std::string vendor_libraries(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
    const std::string name = it->path().filename().string();
    const bool neutral = name == kTorchLibrary || name == "libtorch_python.so" || name == "libtorch_global_deps.so";
    if (glob_match("libtorch_*.so", name) && !neutral) names.push_back(name);
  }
  std::ranges::sort(names);
  return join(names, ", ");
}

std::string why_unfit(const TorchPlace& place, const Manifest& plugin) {
  if (!is_there(place.directory / kTorchLibrary)) {
    return format("holds no {}. Name the lib directory of a torch {}", kTorchLibrary,
                  major_minor(plugin.torch_version));
  }
  for (const std::string& library : plugin.torch_libraries) {
    if (is_there(place.directory / library)) continue;
    const std::string others = vendor_libraries(place.directory);
    return format(
        "is a torch{} without {} (it has {}), so it is built for other hardware. Install the torch for {} "
        "in its place, or name another one",
        place.version.empty() ? "" : " " + place.version, library, others.empty() ? "none such" : others, plugin.name);
  }
  if (!place.version.empty() && major_minor(place.version) != major_minor(plugin.torch_version)) {
    return format("is torch {}, the plugin was built with {}. Install the plugin for torch {}, or name a torch {}",
                  place.version, plugin.torch_version, major_minor(place.version), major_minor(plugin.torch_version));
  }
  return "";
}

/// All places, in order; ends after one that the user named.
std::vector<TorchPlace> places(const Manifest& plugin, const TorchOptions& options) {
  std::vector<TorchPlace> list;
  const auto add = [&](const fs::path& directory, std::string origin) {
    list.push_back({directory, std::move(origin), installed_torch_version(directory), ""});
  };
  const auto variable = [&](const char* name) {
    const auto found = options.variables.find(name);
    return found == options.variables.end() ? std::string() : found->second;
  };
  if (options.directory) {
    add(libraries_of(*options.directory), "--torch_dir");
  } else if (const std::string named = variable("LEROBOT_TORCH_DIR"); !named.empty()) {
    add(libraries_of(named), "LEROBOT_TORCH_DIR");
  } else {
    if (!plugin.torch.value.empty()) add(libraries_of(plugin.torch.value), "the package's manifest");
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      const std::string environment = variable(name);
      if (environment.empty() || !fs::path(environment).is_absolute()) continue;
      for (const fs::path& directory : in_environment(environment)) {
        add(directory, format("the active Python environment, {}={}", name, environment));
      }
    }
  }
  return list;
}

}  // namespace

std::string installed_torch_version(const fs::path& directory) {
  const fs::path root = directory.parent_path();
  const std::string python = version_characters(line_after(root / "version.py", "__version__ ="));
  return python.empty() ? version_characters(line_after(root / "build-version", "")) : python;
}

ExternalTorch find_external_torch(const Manifest& plugin, const TorchOptions& options) {
  ExternalTorch found;
  for (TorchPlace& place : places(plugin, options)) {
    place.problem = why_unfit(place, plugin);
    if (place.problem.empty()) {
      std::error_code ec;
      place.directory = fs::canonical(place.directory, ec);
      found.chosen = std::move(place);
      return found;
    }
    found.rejected.push_back(std::move(place));
  }
  return found;
}

}  // namespace lerobot::accel
