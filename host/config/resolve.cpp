#include "host/config/resolve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;

/// LeRobot's rule: a share of the processors, no more than there are episodes, never above 64.
std::int64_t environments(std::int64_t asked, std::int64_t n_episodes) {
  if (asked == 0) {
    const double share = std::floor(0.7 * static_cast<double>(std::thread::hardware_concurrency()));
    asked = std::min<std::int64_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(share)), 64);
  }
  return std::min(asked, n_episodes);
}

void fill_in_dataset(const Settings& settings, DatasetConfig& dataset) {
  if (dataset.root && dataset.root->empty())
    settings.refuse("dataset.root", "found an empty text, needed a directory.");
  if (dataset.repo_id.empty()) {
    if (!dataset.root)
      settings.refuse("dataset.root", "is missing. Give the dataset's directory, or --dataset.repo_id.");
    std::error_code ignored;
    const fs::path root = fs::absolute(*dataset.root, ignored).lexically_normal();
    dataset.repo_id = "local/" + (root.has_filename() ? root.filename() : root.parent_path().filename()).string();
  }
  if (!dataset.exclude_episodes) return;
  const auto dropped = std::erase_if(*dataset.exclude_episodes, [](std::int64_t episode) { return episode < 0; });
  if (dropped > 0) log::warn("dataset.exclude_episodes: {} negative numbers left out", dropped);
}

bool is_same_directory(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

}  // namespace

std::string dated_directory(const std::string& name) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%d/%H-%M-%S", &local);
  return format("outputs/train/{}_{}", stamp, name);
}

void fill_in(const Settings& settings, TrainConfig& config) {
  fill_in_dataset(settings, config.dataset);
  if (!config.policy) settings.refuse("policy.type", "is missing. Add --policy.type=act, or --policy.path.");
  PolicyCommon& policy = common(*config.policy);
  if (policy.device && policy.device->empty()) policy.device.reset();
  if (config.job_name.value_or("").empty()) config.job_name = type_name(*config.policy);
  if (!config.output_dir) config.output_dir = dated_directory(*config.job_name);
  if (config.output_dir->empty()) settings.refuse("output_dir", "found an empty text, needed a directory.");
  config.eval.batch_size = environments(config.eval.batch_size, config.eval.n_episodes);
  const bool wants_push = policy.repo_id && policy.push_to_hub;
  if (wants_push) log::warn("policy.repo_id: nothing is uploaded to {}: not supported yet", *policy.repo_id);
}

void note_checkpoint(const Settings& settings, const fs::path& checkpoint, TrainConfig& config) {
  config.checkpoint_path = checkpoint.string();
  common(*config.policy).pretrained_path = (checkpoint / "pretrained_model").string();
  const fs::path run = checkpoint.parent_path().parent_path();
  if (!settings.is_typed("output_dir") && !is_same_directory(*config.output_dir, run.empty() ? "." : run)) {
    log::warn(
        "output_dir: new checkpoints go to {}, as the checkpoint says, not to the run it is in; write --output_dir={} "
        "to change that",
        *config.output_dir, shell_quote(run.string()));
  }
}

}  // namespace lerobot::config
