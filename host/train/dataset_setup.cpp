#include "host/train/dataset_setup.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <set>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/data/preflight.h"
#include "host/data/split.h"
#include "host/hub/dataset.h"
#include "host/policy/features.h"
#include "host/train/batch.h"
#include "host/train/missing_stats.h"

namespace lerobot::train {
namespace {

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

/// The chosen episodes split, in the order of a typed list as LeRobot does: the list's last ones are held out.
data::EpisodeSplit split_chosen(const data::DatasetMetadata& metadata, const config::DatasetConfig& config) {
  std::vector<data::Episode> chosen = data::choose_episodes(metadata, config.episodes, config.exclude_episodes);
  if (config.episodes) {
    const auto place = [&](const data::Episode& episode) { return std::ranges::find(*config.episodes, episode.index); };
    std::ranges::stable_sort(chosen, {}, place);
  }
  data::EpisodeSplit split = data::split_episodes(chosen, config.eval_split);
  log::info("Train/eval split: {} train, {} eval (eval_split={}, {} tasks)", split.train.size(), split.held_out.size(),
            json::float_repr(config.eval_split), split.tasks);
  return split;
}

std::int64_t count_frames(const data::DatasetMetadata& metadata, const std::vector<std::int64_t>& episodes) {
  std::int64_t frames = 0;
  for (const data::Episode& episode : data::choose_episodes(metadata, episodes, {})) frames += episode.length();
  return frames;
}

/// Opens the parts of a split; held-out frames that are never evaluated stay closed.
Datasets open_parts(const data::DatasetOptions& options, const data::EpisodeSplit& split, bool with_held_out) {
  data::DatasetOptions train = options;
  train.exclude_episodes.reset();
  data::DatasetOptions held_out = train;
  train.episodes = split.train;
  held_out.episodes = split.held_out;
  if (!with_held_out) return {.train = std::make_shared<const data::Dataset>(std::move(train)), .held_out = {}};
  const auto train_frames = static_cast<double>(count_frames(*options.metadata, split.train));
  const auto held_out_frames = static_cast<double>(count_frames(*options.metadata, split.held_out));
  held_out.frame_cache_bytes = static_cast<std::size_t>(static_cast<double>(options.frame_cache_bytes) *
                                                        held_out_frames / (train_frames + held_out_frames));
  train.frame_cache_bytes -= held_out.frame_cache_bytes;
  return {.train = std::make_shared<const data::Dataset>(std::move(train)),
          .held_out = std::make_shared<const data::Dataset>(std::move(held_out))};
}

/// The dataset's features that a policy can use.
std::vector<std::string> policy_features(const data::DatasetMetadata& metadata,
                                         const OrderedMap<std::string>& rename_map) {
  std::vector<std::string> keys;
  for (const auto& entry : metadata.features()) {
    if (is_for_policies(renamed(entry.first, rename_map))) keys.push_back(entry.first);
  }
  return keys;
}

/// The files of these episodes; nothing when all episodes are wanted.
std::optional<std::vector<std::string>> files_of_choice(const data::DatasetMetadata& metadata,
                                                        const config::DatasetConfig& config) {
  const bool is_choice = !config.episodes.value_or(std::vector<std::int64_t>{}).empty() ||
                         !config.exclude_episodes.value_or(std::vector<std::int64_t>{}).empty();
  if (!is_choice) return std::nullopt;
  std::set<std::string> files;
  for (const data::Episode& episode : data::choose_episodes(metadata, config.episodes, config.exclude_episodes)) {
    for (std::string& file : metadata.files(episode)) files.insert(std::move(file));
  }
  return std::vector<std::string>(files.begin(), files.end());
}

/// What the loaders of training and of evaluation have in common.
data::LoaderOptions loading(const config::TrainConfig& config) {
  data::LoaderOptions options;
  options.batch_size = config.batch_size;
  options.num_workers = config.num_workers;
  options.prefetch_factor = config.prefetch_factor;
  return options;
}

at::Tensor to_tensor(const data::Stat& stat) {
  return at::tensor(stat.values, at::kDouble).to(at::kFloat).reshape(stat.shape);
}

}  // namespace

Datasets open_datasets(const config::TrainConfig& config, std::int64_t frame_cache_mb) {
  const config::DatasetConfig& wanted = config.dataset;
  data::DatasetOptions options;
  const hub::DatasetPlace place = hub::find_dataset({wanted.root, wanted.repo_id, wanted.revision.value_or("")});
  options.root = place.root();
  options.metadata = std::make_shared<const data::DatasetMetadata>(data::DatasetMetadata::load(options.root));
  place.fetch(files_of_choice(*options.metadata, wanted));
  options.episodes = wanted.episodes;
  options.exclude_episodes = wanted.exclude_episodes;
  options.delta_timestamps = delta_timestamps(config, *options.metadata);
  options.features = policy_features(*options.metadata, config.rename_map);
  options.tolerance_s = config.tolerance_s;
  options.frame_cache_bytes = static_cast<std::size_t>(frame_cache_mb) << 20U;
  if (wanted.eval_split <= 0)
    return {.train = std::make_shared<const data::Dataset>(std::move(options)), .held_out = {}};
  const data::EpisodeSplit split = split_chosen(*options.metadata, wanted);
  return open_parts(options, split, /*with_held_out=*/config.eval_steps > 0);
}

policy::Stats training_stats(const data::Dataset& dataset, const config::TrainConfig& config) {
  data::DatasetStats stats = dataset.metadata().stats();
  if (config.dataset.use_imagenet_stats) data::imagenet_stats(stats, dataset.metadata().color_camera_keys());
  complete_stats(stats, dataset, config);
  policy::Stats tensors;
  for (const auto& [feature, values] : stats) {
    auto& own = tensors[renamed(feature, config.rename_map)];
    for (const auto& [name, stat] : values) own[name] = to_tensor(stat);
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

std::shared_ptr<const data::ImageTransforms> image_transforms(const config::ImageTransformsConfig& config) {
  if (!config.enable) return nullptr;
  data::ImageTransformOptions options{
      .max_num_transforms = config.max_num_transforms, .random_order = config.random_order, .choices = {}};
  for (const auto& [name, choice] : config.tfs) {
    options.choices.push_back({name, choice.weight, choice.type, choice.kwargs});
  }
  return std::make_shared<const data::ImageTransforms>(options);
}

data::LoaderOptions held_out_loading(const data::Dataset& held_out, const config::TrainConfig& config) {
  data::LoaderOptions options = loading(config);
  options.rows = data::evaluation_rows(held_out.task_indices(), config.max_eval_samples);
  return options;
}

std::unique_ptr<data::DataLoader> make_loader(std::shared_ptr<const data::Dataset> dataset,
                                              const config::TrainConfig& config, const data::LoaderStart& start) {
  data::LoaderOptions options = loading(config);
  options.seed = config.seed.value_or(0);
  options.start = start;
  options.image_transforms = image_transforms(config.dataset.image_transforms);
  return std::make_unique<data::DataLoader>(std::move(dataset), std::move(options));
}

}  // namespace lerobot::train
