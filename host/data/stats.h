#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/feature.h"

namespace lerobot::data {

/// One statistic of one feature as in stats.json, at least one axis. Cameras: (C, 1, 1) whichever way it was written.
struct Stat {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool operator==(const Stat&) const = default;
};
using FeatureStats = OrderedMap<Stat>;          ///< by name: min, max, mean, std, count, q01, ...
using DatasetStats = OrderedMap<FeatureStats>;  ///< by feature

/// Reads meta/stats.json below `root`; no file gives no statistics. Null and empty lists count as absent, NaN and
/// Infinity are read (find_finite_stat refuses them). Throws Error(kData) for anything that is not numbers.
DatasetStats load_stats(const std::filesystem::path& root, const OrderedMap<FeatureSpec>& features);

/// The statistic, which must exist and be finite. Throws Error(kData) naming feature, statistic and what is wrong.
const Stat& find_finite_stat(const DatasetStats& stats, std::string_view feature, std::string_view name);

/// Replaces mean and std of these cameras by ImageNet's, shape (3, 1, 1).
void imagenet_stats(DatasetStats& stats, const std::vector<std::string>& camera_keys);

}  // namespace lerobot::data
