#include "host/config/config_file.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/runs/run_folder.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileName = runs::kTrainConfigFile;
constexpr std::string_view kModelDirectory = runs::kPretrainedModel;

bool file_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}
bool directory_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// `last` as the step it points to, in the same directory: later checkpoints move the link, not what was resumed.
fs::path without_link(const fs::path& step) {
  std::error_code ignored;
  if (!fs::is_symlink(step, ignored)) return step;
  const fs::path target = fs::read_symlink(step, ignored);
  return target.empty() ? step : (step.parent_path() / target).lexically_normal();
}

/// "a/b/../" is "a".
fs::path without_trailing_slash(fs::path path) {
  path = path.lexically_normal();
  while (!path.has_filename() && path.has_parent_path() && path != path.root_path()) path = path.parent_path();
  return path;
}

std::optional<fs::path> checkpoint_of(const fs::path& file) {
  fs::path model = file.parent_path();
  std::error_code ignored;
  if (!model.has_parent_path()) model = fs::absolute(file, ignored).lexically_normal().parent_path();
  if (model.filename() != kModelDirectory) return std::nullopt;
  return without_link(model.parent_path());
}

/// The end of a message about a path: the steps that the run in it, or around it, does hold.
std::string steps_found(const fs::path& path) {
  fs::path run = path;
  constexpr int kDepth = 5;  // of a checkpoint's train_config.json in its run
  for (int i = 0; i < kDepth; ++i, run = run.parent_path()) {
    std::vector<std::string> steps;
    for (const fs::path& step : runs::list_checkpoints(run)) {
      if (file_exists(step / kModelDirectory / kFileName)) steps.push_back(step.filename().string());
    }
    if (steps.empty()) continue;
    const fs::path newest = run / runs::kCheckpoints / steps.front();
    std::reverse(steps.begin(), steps.end());
    return format(" Steps there: {}. Write --config_path={}.", join(steps, ", "), shell_quote(newest.string()));
  }
  return " There are no checkpoints there.";
}

/// The run whose newest checkpoint the path asks for: the run's directory, its checkpoints, `last` or a place in it.
std::optional<fs::path> run_asked_for(const fs::path& path) {
  if (directory_exists(path / runs::kCheckpoints)) return path;
  std::error_code ignored;
  fs::path run = without_trailing_slash(fs::absolute(path, ignored));
  for (const std::string_view part : {kFileName, kModelDirectory, std::string_view(runs::kLast)}) {
    if (run.filename() == part) run = run.parent_path();
  }
  if (run.filename() != runs::kCheckpoints) return std::nullopt;
  run = run.parent_path();
  return path.is_relative() ? run.lexically_proximate(fs::current_path(ignored)) : run;
}

/// The configuration of a run's newest complete checkpoint.
std::optional<ConfigPath> find_newest(const fs::path& run) {
  runs::put_back_replaced(run);
  const auto newest = runs::find_newest(run);
  if (!newest) return std::nullopt;
  const fs::path checkpoint = newest->checkpoint.lexically_normal();
  if (!newest->note.empty()) {
    log::warn("{}: the newest complete checkpoint is taken ({})", checkpoint.string(), newest->note);
  }
  return ConfigPath{checkpoint / kModelDirectory / kFileName, checkpoint};
}

/// rabc_*, the weighting of samples of releases before `sample_weighting`.
void translate_old_keys(Node& root) {
  Node weighting = empty_map(Node::Origin::kFile);
  const Node* used = root.find("use_rabc");
  const bool is_used = used && std::get_if<bool>(&used->value) && std::get<bool>(used->value);
  for (const std::string_view key : {"progress_path", "kappa", "epsilon", "head_mode"}) {
    const std::string old = "rabc_" + std::string(key);
    if (const Node* value = root.find(old); value && !value->is_null()) weighting.put(key, *value);
    root.erase(old);
  }
  root.erase("use_rabc");
  const Node* present = root.find("sample_weighting");
  if (is_used && (!present || present->is_null())) root.put("sample_weighting", weighting);
}

/// Python writes Infinity (a clipping norm, a tolerance); NaN is no valid setting, and the parser says where it stands.
json::NonFinite non_finite(const fs::path& file, const std::string& text) {
  const bool may = strictness_of(file) == Strictness::kLenient && text.find("NaN") == std::string::npos;
  return may ? json::NonFinite::kAccept : json::NonFinite::kRefuse;
}

}  // namespace

bool is_hub_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) return false;
  if (text.find('/', slash + 1) != std::string::npos || text[0] == '.' || text[0] == '~') return false;
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") !=
      std::string::npos) {
    return false;
  }
  std::error_code ignored;
  return !fs::exists(text, ignored) && !directory_exists(fs::path(text).parent_path());
}

Strictness strictness_of(const fs::path& file) {
  const fs::path name = file.filename();
  return name == kFileName || name == "config.json" ? Strictness::kLenient : Strictness::kStrict;
}

ConfigPath find_config(const std::string& text) {
  const fs::path path = without_trailing_slash(text);
  if (const auto run = run_asked_for(path)) {
    if (const auto newest = find_newest(*run)) return *newest;
  }
  // A pointer file is no configuration.
  if (file_exists(path) && !runs::read_pointer_file(path)) return {path, checkpoint_of(path)};
  if (directory_exists(path)) {
    const std::vector<fs::path> candidates{path / kFileName, path / kModelDirectory / kFileName,
                                           path / runs::kCheckpoints / runs::kLast / kModelDirectory / kFileName,
                                           path / runs::kLast / kModelDirectory / kFileName};
    std::vector<std::string> tried;
    for (const fs::path& candidate : candidates) {
      if (file_exists(candidate)) return {candidate, checkpoint_of(candidate)};
      tried.push_back(candidate.string());
    }
    fail(ErrorKind::kConfig, "--config_path={}: found a directory without a configuration; looked for {}.{}",
         shell_quote(text), join(tried, ", "), steps_found(path));
  }
  fail(ErrorKind::kConfig,
       "--config_path={}: no such file or directory; needed a run's directory, checkpoints/last, checkpoints/<step>, "
       "its pretrained_model, the train_config.json in it, or a run's name on the hub, ORG/NAME.{}",
       shell_quote(text), steps_found(path));
}

Node read_config(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".yaml" || extension == ".yml" || extension == ".toml") {
    fail(ErrorKind::kConfig,
         "{}: found a {} file, needed JSON: this program has no reader for others. Convert it to JSON.", file.string(),
         extension.substr(1));
  }
  const std::string text = read_text(file, ErrorKind::kConfig);
  Node root = from_json(json::parse(text, file.string(), ErrorKind::kConfig, non_finite(file, text)));
  if (!root.map()) fail(ErrorKind::kConfig, "{}: found {}, needed a mapping.", file.string(), describe(root));
  translate_old_keys(root);
  return root;
}

}  // namespace lerobot::config
