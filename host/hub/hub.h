#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot::hub {

enum class RepoType { kModel, kDataset };

/// Which files of which repository are wanted, and where.
struct Request {
  RepoType type = RepoType::kModel;
  std::string repo_id;   ///< "org/name"
  std::string revision;  ///< branch, tag or commit; empty: main, and of a dataset the version that this program reads
  /// Files, and folders with '/' at the end, each of which must be there. Nothing: everything that is there.
  std::optional<std::vector<std::string>> paths;
  std::vector<std::string> extras;  ///< files that are taken when they are there
  /// Where the files are put under their names; nothing: into the cache that they share with Python.
  std::optional<std::filesystem::path> folder;
  std::string flag;  ///< what the user wrote, for messages: "--policy.path=org/name"
};

struct Fetched {
  std::filesystem::path root;      ///< the files lie below it under their names
  std::string commit;              ///< 40 hex digits
  std::vector<std::string> files;  ///< all names in that commit; without the network those that are known here
};

/// Makes sure that the wanted files are on this machine: downloads what is missing, as far as HF_HUB_OFFLINE allows.
/// Progress goes to standard error. A process that is killed meanwhile leaves parts that the next call continues.
/// Loads libcurl at the first call. Throws Error: kUsage for an impossible name, kData or kCheckpoint (by the type of
/// the repository) for what the server says, kIo for the disk.
Fetched fetch(const Request& request);

/// Whether the text could name a repository: "org/name" in the letters that the hub allows.
bool is_repo_id(std::string_view text);

/// $HF_HOME, by default $XDG_CACHE_HOME/huggingface or ~/.cache/huggingface.
std::filesystem::path home();
/// $HF_LEROBOT_HOME, by default $HF_HOME/lerobot. Throws Error(kUsage) when LEROBOT_HOME is set, as LeRobot does.
std::filesystem::path lerobot_home();

/// Whether HF_HUB_OFFLINE (or TRANSFORMERS_OFFLINE) forbids the network.
bool is_offline();

/// An environment variable that names a path: "~" is replaced; unset and empty are the same.
std::optional<std::filesystem::path> path_variable(const char* name);

/// The one symbol of liblerobot_hub.so.
using FetchFunction = void (*)(const Request* request, Fetched* fetched);
inline constexpr char kFetchSymbol[] = "lerobot_hub_fetch";

}  // namespace lerobot::hub
