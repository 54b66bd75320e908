#pragma once

#include "host/config/train_config.h"
#include "host/data/dataset.h"
#include "host/data/stats.h"

namespace lerobot::train {

/// Adds the statistics that the policy's normalization needs and the dataset lacks. mean, std, min and max are computed
/// from the dataset's frames (those that are trained on), with a log line and a progress bar. Throws Error(kData),
/// before anything is computed, naming all others that are missing: quantiles.
void complete_stats(data::DatasetStats& stats, const data::Dataset& dataset, const config::TrainConfig& config);

}  // namespace lerobot::train
