#include "host/train/dataset_setup.h"

#include <ATen/ops/tensor.h>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/policy/features.h"
#include "host/train/batch.h"

namespace lerobot::train {
namespace {

namespace fs = std::filesystem;

fs::path datasets_home() {
  if (const auto home = environment("HF_LEROBOT_HOME")) return *home;
  if (const auto home = environment("HF_HOME")) return fs::path(*home) / "lerobot";
  if (const auto cache = environment("XDG_CACHE_HOME")) return fs::path(*cache) / "huggingface/lerobot";
  return fs::path(environment("HOME").value_or("")) / ".cache/huggingface/lerobot";
}

/// The policy's windows, in frames, as the dataset's, in seconds.
OrderedMap<std::vector<double>> delta_timestamps(const config::TrainConfig& config,
                                                 const data::DatasetMetadata& metadata) {
  std::vector<std::string> keys;
  for (const auto& [key, feature] : metadata.features()) keys.push_back(renamed(key, config.rename_map));
  const auto windows = policy::delta_indices(*config.policy, keys);
  OrderedMap<std::vector<double>> seconds;
  for (const auto& [key, feature] : metadata.features()) {
    const auto* window = windows.find(renamed(key, config.rename_map));
    if (!window) continue;
    for (const std::int64_t frames : *window) seconds[key].push_back(static_cast<double>(frames) / metadata.fps());
  }
  return seconds;
}

at::Tensor to_tensor(const data::Stat& stat) {
  return at::tensor(stat.values, at::kDouble).to(at::kFloat).reshape(stat.shape);
}

}  // namespace

fs::path dataset_root(const config::DatasetConfig& config) {
  if (config.root) return *config.root;
  const fs::path root = datasets_home() / config.repo_id;
  if (!fs::exists(root / "meta/info.json")) {
    fail(ErrorKind::kData,
         "--dataset.repo_id={}: not found at {}, and downloading from the hub is not supported yet. Name the folder "
         "that "
         "holds meta/, data/ and videos/ with --dataset.root.",
         config.repo_id, root.string());
  }
  return root;
}

std::shared_ptr<const data::Dataset> open_dataset(const config::TrainConfig& config, std::int64_t frame_cache_mb) {
  const fs::path root = dataset_root(config.dataset);
  data::DatasetOptions options;
  options.root = root;
  options.episodes = config.dataset.episodes;
  options.exclude_episodes = config.dataset.exclude_episodes;
  options.delta_timestamps = delta_timestamps(config, data::DatasetMetadata::load(root));
  options.tolerance_s = config.tolerance_s;
  options.frame_cache_bytes = static_cast<std::size_t>(frame_cache_mb) << 20U;
  return std::make_shared<const data::Dataset>(std::move(options));
}

policy::Stats training_stats(const data::DatasetMetadata& metadata, bool use_imagenet_stats) {
  data::DatasetStats stats = metadata.stats();
  if (use_imagenet_stats) data::imagenet_stats(stats, metadata.color_camera_keys());
  policy::Stats tensors;
  for (const auto& [feature, values] : stats) {
    for (const auto& [name, stat] : values) tensors[feature][name] = to_tensor(stat);
  }
  return tensors;
}

void fill_features(config::TrainConfig& config, const data::DatasetMetadata& metadata) {
  OrderedMap<policy::DatasetFeature> features;
  for (const auto& [key, spec] : metadata.features()) {
    features.append(key, {.dtype = spec.dtype, .shape = spec.policy_shape(), .names = {}});
  }
  policy::fill_features(*config.policy, features, config.rename_map);
}

std::unique_ptr<data::DataLoader> make_loader(std::shared_ptr<const data::Dataset> dataset,
                                              const config::TrainConfig& config, const data::LoaderStart& start) {
  data::LoaderOptions options;
  options.batch_size = config.batch_size;
  options.num_workers = config.num_workers;
  options.prefetch_factor = config.prefetch_factor;
  options.seed = config.seed.value_or(0);
  options.start = start;
  return std::make_unique<data::DataLoader>(std::move(dataset), std::move(options));
}

}  // namespace lerobot::train
