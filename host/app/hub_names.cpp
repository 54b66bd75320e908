#include "host/app/hub_names.h"

#include <algorithm>
#include <utility>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/hub/hub.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

constexpr std::string_view kCheckpoints = "checkpoints/";
constexpr std::string_view kConfig = "train_config.json";
constexpr std::string_view kModelConfig = "/pretrained_model/train_config.json";

hub::Request run_request(const std::string& repo_id, Paths paths) {
  return {.type = hub::RepoType::kModel,
          .repo_id = repo_id,
          .revision = "",
          .paths = std::move(paths),
          .extras = {},
          .folder = {},
          .flag = "--config_path=" + repo_id};
}

/// "checkpoints/<step>" with the highest step that has a configuration; empty when there is none.
std::string newest_checkpoint(const Paths& files) {
  std::pair<std::size_t, std::string> newest;  // numbers of digits first: more digits are more steps
  for (const std::string& file : files) {
    if (!file.starts_with(kCheckpoints) || !file.ends_with(kModelConfig)) continue;
    const std::string step = file.substr(kCheckpoints.size(), file.size() - kCheckpoints.size() - kModelConfig.size());
    if (step.empty() || step.find_first_not_of("0123456789") != std::string::npos) continue;
    newest = std::max(newest, {step.size(), step});
  }
  return newest.second.empty() ? "" : std::string(kCheckpoints) + newest.second;
}

std::string require_checkpoint(const std::string& repo_id, const Paths& files) {
  std::string checkpoint = newest_checkpoint(files);
  if (!checkpoint.empty()) return checkpoint;
  fail(ErrorKind::kConfig,
       "--config_path={}: has no checkpoints/<step>/ to resume. LeRobot uploads them with --save_checkpoint_to_hub; to "
       "start from the weights write --policy.path={}.",
       repo_id, repo_id);
}

fs::path policy_directory(const std::string& repo_id, const std::string& revision) {
  return hub::fetch({.type = hub::RepoType::kModel,
                     .repo_id = repo_id,
                     .revision = revision,
                     .paths = Paths{"config.json", "model.safetensors"},
                     .extras = {std::string(kConfig)},
                     .folder = {},
                     .flag = "--policy.path=" + repo_id})
      .root;
}

/// The one of the whole run, which an upload at its end brings, or that of its newest checkpoint.
fs::path train_config(const std::string& repo_id) {
  const Paths files = hub::fetch(run_request(repo_id, {})).files;
  std::string file(kConfig);
  if (std::ranges::find(files, file) == files.end()) {
    file = require_checkpoint(repo_id, files) + std::string(kModelConfig);
  }
  return hub::fetch(run_request(repo_id, {file})).root / file;
}

/// `last` points to it, as in a run that was trained here.
fs::path checkpoint(const std::string& repo_id, const fs::path& run) {
  const std::string newest = require_checkpoint(repo_id, hub::fetch(run_request(repo_id, {})).files);
  hub::Request request = run_request(repo_id, {newest + "/"});
  request.folder = run;
  fs::path directory = hub::fetch(request).root / newest;
  const fs::path link = directory.parent_path() / "last";
  std::error_code ec;
  if (fs::is_symlink(link, ec)) fs::remove(link, ec);
  fs::create_directory_symlink(directory.filename(), link, ec);
  if (ec) fail(ErrorKind::kIo, "{}: cannot be made: {}", link.string(), ec.message());
  return directory;
}

}  // namespace

config::HubNames hub_names() {
  return {policy_directory, train_config, checkpoint};
}

}  // namespace lerobot
