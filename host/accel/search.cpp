#include "host/accel/search.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"

extern char** environ;

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

constexpr char kOwnDirectory[] = "lerobot/accel.d";
constexpr std::string_view kCommandLine = "--plugins";

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string variable(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

void add_roots(std::vector<SearchRoot>& roots, std::string_view list, std::string_view origin) {
  for (const std::string& directory : split(list, ":")) roots.push_back({fs::absolute(directory), std::string(origin)});
}

/// $XDG_DATA_HOME, or its default. A relative value is ignored, as the XDG specification asks.
std::optional<fs::path> user_data_directory(const Variables& variables) {
  const fs::path data = variable(variables, "XDG_DATA_HOME");
  if (data.is_absolute()) return data;
  const fs::path home = variable(variables, "HOME");
  if (home.is_absolute()) return home / ".local/share";
  return std::nullopt;
}

Package read_package(const fs::path& directory, const SearchRoot& root) {
  Package package{directory.filename().string(), directory, root.origin, std::nullopt, "", std::nullopt};
  try {
    Manifest manifest = read_manifest(directory);
    // A package named by itself may lie in any directory, an author's build tree for one.
    if (manifest.id != package.id && directory != root.directory) {
      fail(ErrorKind::kDevice, "manifest.json: id: {} is not the name of its directory, {}", manifest.id, package.id);
    }
    package.id = manifest.id;
    package.manifest = std::move(manifest);
  } catch (const Error& error) {
    package.problem = error.what();
  }
  return package;
}

bool has_manifest(const fs::path& directory) {
  std::error_code ec;
  return fs::is_directory(directory, ec) && fs::exists(fs::symlink_status(directory / "manifest.json", ec));
}

/// The packages of one root: the root itself if it is a package, else its subdirectories in byte-wise order.
std::vector<fs::path> package_directories(const SearchRoot& root) {
  if (has_manifest(root.directory)) return {root.directory};
  std::vector<fs::path> found;
  std::error_code ec;
  fs::directory_iterator entries(root.directory, ec);
  if (ec) {
    if (root.origin == kCommandLine) {
      fail(ErrorKind::kUsage, "{}={}: {}. Name a directory that holds plugin packages.", root.origin,
           root.directory.string(), ec.message());
    }
    if (root.origin.starts_with("LEROBOT_"))
      log::warn("{}: {}: {}", root.origin, root.directory.string(), ec.message());
    return {};
  }
  for (; entries != fs::directory_iterator(); entries.increment(ec)) {
    if (ec) break;
    if (has_manifest(entries->path())) found.push_back(entries->path());
  }
  std::ranges::sort(found, {}, [](const fs::path& path) { return path.native(); });
  return found;
}

bool matches_any(const std::string& patterns, const std::string& id) {
  return std::ranges::any_of(split(patterns, ",:"), [&](const std::string& glob) { return glob_match(glob, id); });
}

}  // namespace

Variables trusted_variables() {
  Variables variables;
  if (::getauxval(AT_SECURE) != 0) return variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

fs::path library_directory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&library_directory), &info) == 0 || !info.dli_fname) {
    fail(ErrorKind::kInternal, "the loader cannot say where liblerobot_host.so lies");
  }
  return fs::weakly_canonical(info.dli_fname).parent_path();
}

std::vector<SearchRoot> search_roots(const SearchOptions& options) {
  std::vector<SearchRoot> roots;
  for (const std::string& list : options.command_line) add_roots(roots, list, kCommandLine);
  const auto only = options.variables.find("LEROBOT_ACCEL_PLUGINS");
  if (only != options.variables.end()) {
    add_roots(roots, only->second, "LEROBOT_ACCEL_PLUGINS");
    return roots;
  }
  add_roots(roots, variable(options.variables, "LEROBOT_ACCEL_ADD_PLUGINS"), "LEROBOT_ACCEL_ADD_PLUGINS");
  roots.push_back({options.libraries / kOwnDirectory, "beside the program"});
  if (const auto data = user_data_directory(options.variables)) roots.push_back({*data / kOwnDirectory, "user data"});
  for (const fs::path& directory : options.system) roots.push_back({directory, "system"});
  return roots;
}

std::vector<Package> find_packages(const SearchOptions& options) {
  std::vector<Package> packages;
  std::map<std::string, fs::path> winners;
  std::set<fs::path> seen;  // one directory reached twice (an installation in /usr) is one package, not a shadowed one
  for (const SearchRoot& root : search_roots(options)) {
    for (const fs::path& directory : package_directories(root)) {
      if (!seen.insert(fs::weakly_canonical(directory)).second) continue;
      Package package = read_package(directory, root);
      if (package.manifest) {  // one whose manifest cannot be read hides nothing
        const auto [winner, first] = winners.emplace(package.id, directory);
        if (!first) package.shadowed_by = winner->second;
      }
      packages.push_back(std::move(package));
    }
  }
  return packages;
}

std::string filtered_out(const std::string& id, const Variables& variables) {
  const std::string disable = variable(variables, "LEROBOT_ACCEL_DISABLE");
  if (matches_any(disable, id)) return format("disabled by LEROBOT_ACCEL_DISABLE={}", disable);
  const std::string select = variable(variables, "LEROBOT_ACCEL_SELECT");
  if (!select.empty() && !matches_any(select, id)) return format("not selected by LEROBOT_ACCEL_SELECT={}", select);
  return "";
}

}  // namespace lerobot::accel
