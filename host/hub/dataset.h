#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/hub/hub.h"

namespace lerobot::hub {

/// A dataset as its user names it.
struct DatasetName {
  std::optional<std::string> root;  ///< --dataset.root
  std::string repo_id;              ///< --dataset.repo_id; "local/..." stands for a root that was given without one
  std::string revision;             ///< --dataset.revision, or empty
  std::string flag = "--dataset.repo_id";  ///< what the user wrote the name to, for messages
};

/// Where a dataset's files are, and how to get those that are not there yet.
class DatasetPlace {
 public:
  const std::filesystem::path& root() const { return root_; }
  /// The commit of a dataset from the hub; empty for one that lies here anyway.
  const std::string& commit() const { return request_.revision; }

  /// Downloads these files, or without a list everything that the dataset has. Nothing for a dataset that lies here:
  /// whoever opens it tells what it lacks.
  void fetch(const std::optional<std::vector<std::string>>& files) const;

 private:
  friend DatasetPlace find_dataset(const DatasetName& name);

  std::filesystem::path root_;
  Request request_;  ///< its revision is the commit
};

/// Finds a dataset as LeRobot does: the root if one is given, else $HF_LEROBOT_HOME/<repo_id>, if meta/info.json is
/// there; no network is used then. Otherwise its meta/ comes from the hub, into the root if one is given, else into the
/// cache under $HF_LEROBOT_HOME/hub. Throws Error(kData) that names the path that was tried.
DatasetPlace find_dataset(const DatasetName& name);

}  // namespace lerobot::hub
