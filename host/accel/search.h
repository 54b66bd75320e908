#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/accel/manifest.h"

namespace lerobot::accel {

using Variables = std::map<std::string, std::string>;

/// The process's environment; empty when the program runs with raised privileges (setuid, file capabilities), so that
/// whoever starts it cannot choose what code it loads.
Variables trusted_variables();

/// The directory of liblerobot_host.so, symbolic links resolved. Everything installed with it lies in lerobot/ below:
/// accel.d/ (plugins), trainer/, lerobot-accel-probe. For an installed program this is ../lib of its own directory.
std::filesystem::path library_directory();

/// Where packages are looked for.
struct SearchOptions {
  std::vector<std::string> command_line;  ///< directories of packages, or packages themselves; each may hold "a:b"
  Variables variables = trusted_variables();
  std::filesystem::path libraries = library_directory();
  std::vector<std::filesystem::path> system = {"/usr/local/lib/lerobot/accel.d", "/usr/lib/lerobot/accel.d"};
};

struct SearchRoot {
  std::filesystem::path directory;
  std::string origin;  ///< for people: "--plugins", "LEROBOT_ACCEL_PLUGINS", "beside the program", ...
};

/// One directory with a manifest.json.
struct Package {
  std::string id;  ///< the manifest's, or the directory's name when the manifest is bad
  std::filesystem::path directory;
  std::string origin;
  std::optional<Manifest> manifest;                  ///< absent: `problem` says why
  std::string problem;                               ///< of the manifest; empty when it could be read
  std::optional<std::filesystem::path> shadowed_by;  ///< a package of the same id found earlier
};

/// In the order they are searched: command line; then LEROBOT_ACCEL_PLUGINS alone if set, else
/// LEROBOT_ACCEL_ADD_PLUGINS, beside the host library, the user's data directory (XDG), system directories.
std::vector<SearchRoot> search_roots(const SearchOptions& options);

/// All packages in search order, byte-wise by name inside one root; the first of an id wins, later ones are shadowed.
/// Only directories that hold a manifest.json are looked at, and no code of theirs runs.
/// Throws Error(kUsage) when a directory of the command line does not exist; one of a variable is warned about.
std::vector<Package> find_packages(const SearchOptions& options);

/// Why LEROBOT_ACCEL_DISABLE or LEROBOT_ACCEL_SELECT (globs, separated by commas or colons) leaves this id out; empty
/// when they do not.
std::string filtered_out(const std::string& id, const Variables& variables);

}  // namespace lerobot::accel
