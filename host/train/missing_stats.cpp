#include "host/train/missing_stats.h"

#include <algorithm>
#include <array>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/data/compute_stats.h"
#include "host/policy/normalizer.h"
#include "host/report/progress_bar.h"
#include "host/train/batch.h"

namespace lerobot::train {
namespace {

constexpr std::array<std::string_view, 4> kComputed = {"mean", "std", "min", "max"};

bool is_computed(const std::string& statistic) {
  return std::ranges::find(kComputed, statistic) != kComputed.end();
}

/// What is needed and not there, by the dataset's name of the feature.
using Missing = OrderedMap<std::vector<std::string>>;

Missing find_missing(const data::DatasetStats& stats, const data::DatasetMetadata& metadata,
                     const config::TrainConfig& config) {
  const auto needed = policy::needed_statistics(*config.policy);
  Missing missing;
  for (const auto& [key, feature] : metadata.features()) {
    const auto* names = needed.find(renamed(key, config.rename_map));
    if (names == nullptr) continue;
    const data::FeatureStats* own = stats.find(key);
    for (const std::string& name : *names) {
      if (own == nullptr || !own->contains(name)) missing[key].push_back(name);
    }
  }
  return missing;
}

std::string text_of(const Missing& missing) {
  std::vector<std::string> texts;
  for (const auto& [key, names] : missing) texts.push_back(join(names, ", ") + " of " + key);
  return join(texts, "; ");
}

void refuse_quantiles(const Missing& missing, const data::DatasetMetadata& metadata) {
  Missing quantiles;
  for (const auto& [key, names] : missing) {
    for (const std::string& name : names) {
      if (!is_computed(name)) quantiles[key].push_back(name);
    }
  }
  if (quantiles.empty()) return;
  fail(ErrorKind::kData,
       "{}: --policy.normalization_mapping needs statistics that are missing: {}. Choose MEAN_STD or MIN_MAX, whose "
       "statistics are computed where they are missing, or add the quantiles (LeRobot's "
       "augment_dataset_quantile_stats).",
       (metadata.root() / metadata.layout().stats).string(), text_of(quantiles));
}

}  // namespace

void complete_stats(data::DatasetStats& stats, const data::Dataset& dataset, const config::TrainConfig& config) {
  const data::DatasetMetadata& metadata = dataset.metadata();
  const Missing missing = find_missing(stats, metadata, config);
  if (missing.empty()) return;
  refuse_quantiles(missing, metadata);
  log::info("{}: missing are {}; they are computed from the {} frames to train on", metadata.layout().stats,
            text_of(missing), dataset.num_frames());
  const auto is_camera = [&](const auto& entry) { return metadata.features().find(entry.first)->is_camera(); };
  const auto cameras = std::ranges::count_if(missing, is_camera);
  report::ProgressBar progress("Computing statistics", "frame", cameras * data::sampled_frame_count(dataset));
  for (const auto& entry : missing) {
    const auto& [key, names] = entry;
    const data::FeatureStats found = is_camera(entry) ? data::camera_stats(dataset, key, [&] { progress.advance(); })
                                                      : data::number_stats(dataset, key);
    for (const std::string& name : names) stats[key][name] = *found.find(name);
    if (!stats[key].contains("count")) stats[key]["count"] = *found.find("count");
  }
}

}  // namespace lerobot::train
