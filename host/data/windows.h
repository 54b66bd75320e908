#pragma once

#include <cstdint>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/feature.h"

namespace lerobot::data {

/// Frames relative to the current one, per feature.
using DeltaIndices = OrderedMap<std::vector<std::int64_t>>;

/// round(seconds x fps), after checking that each is a whole number of frames within `tolerance_s` and that the feature
/// exists and can have a window. Throws Error(kData) listing all offenders.
DeltaIndices delta_indices(const OrderedMap<std::vector<double>>& delta_timestamps, double fps, double tolerance_s,
                           const OrderedMap<FeatureSpec>& features);

}  // namespace lerobot::data
