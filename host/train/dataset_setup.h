#pragma once

#include <cstdint>
#include <memory>

#include "host/config/train_config.h"
#include "host/data/dataset.h"
#include "host/data/loader.h"
#include "host/policy/normalizer.h"

namespace lerobot::train {

/// What a run trains on, and what it takes its held-out loss from: null without --dataset.eval_split and --eval_steps.
struct Datasets {
  std::shared_ptr<const data::Dataset> train, held_out;
};

/// Opens the chosen episodes, split by --dataset.eval_split, with the windows that the policy asks for. Both parts
/// share the metadata, and the memory for frames by their numbers of frames. Downloads what is on the hub only (the
/// files of the chosen episodes). Checks the files. Throws Error(kData).
Datasets open_datasets(const config::TrainConfig& config, std::int64_t frame_cache_mb);

/// The statistics that normalization uses, by the policy's names of the features: the dataset's, cameras with
/// ImageNet's mean and deviation if so configured, and what is missing computed (see complete_stats). The policy's
/// features are filled in. Throws Error(kData).
policy::Stats training_stats(const data::Dataset& dataset, const config::TrainConfig& config);

/// Fills in the policy's features from the dataset (renamed by rename_map), as LeRobot's make_policy does: outputs
/// always, inputs only when there are none. Throws Error(kData) when cameras or shapes do not fit.
void fill_features(config::TrainConfig& config, const data::DatasetMetadata& metadata);

/// The transforms of training batches; null when they are off. Throws Error(kConfig) that names the setting.
std::shared_ptr<const data::ImageTransforms> image_transforms(const config::ImageTransformsConfig& config);

/// One pass over the held-out rows that --max_eval_samples leaves, in order, in batches as large as training's.
data::LoaderOptions held_out_loading(const data::Dataset& held_out, const config::TrainConfig& config);

/// The loader of training batches.
std::unique_ptr<data::DataLoader> make_loader(std::shared_ptr<const data::Dataset> dataset,
                                              const config::TrainConfig& config, const data::LoaderStart& start);

}  // namespace lerobot::train
