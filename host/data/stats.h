#pragma once

#include <boost/json/fwd.hpp>
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

/// Statistics as JSON has them, {feature: {statistic: nested list}}, of the file `source`. Truth values count as 0
/// and 1.
DatasetStats parse_stats(const boost::json::object& document, std::string_view source,
                         const OrderedMap<FeatureSpec>& features);

/// One set of statistics out of several by LeRobot's rule: min of mins, max of maxes, mean weighted by count, pooled
/// deviation, quantiles up to the 50th the least and the others the greatest. A feature that lacks min, max, mean, std
/// or count somewhere has none. Throws Error(kData) naming `source` when shapes differ.
DatasetStats aggregate_stats(const std::vector<DatasetStats>& parts, std::string_view source);

/// Reads meta/stats.json below `root`; no file gives no statistics. Null and empty lists count as absent, NaN and
/// Infinity are read (normalization refuses them). Throws Error(kData) for anything that is not numbers.
DatasetStats load_stats(const std::filesystem::path& root, const OrderedMap<FeatureSpec>& features);

/// Replaces mean and std of these cameras by ImageNet's, shape (3, 1, 1).
void imagenet_stats(DatasetStats& stats, const std::vector<std::string>& camera_keys);

}  // namespace lerobot::data
