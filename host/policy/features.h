#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/config/policy_config.h"

namespace lerobot::policy {

/// A feature as a dataset's info.json declares it.
struct DatasetFeature {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::string> names;  // empty when they are null or not a list
};

/// What a policy sees of a dataset, in its order: images (channels first), states, environment state, actions; other
/// features are left out. Throws Error(kData) for an image that is not three-dimensional.
config::Features policy_features(const OrderedMap<DatasetFeature>& dataset);

/// Fills in the policy's features from the dataset's, renamed by rename_map: the outputs always, the inputs when there
/// are none yet. Throws Error(kConfig) for a renaming of what the dataset lacks or of two to one name, and when the cameras
/// of the two do not fit.
void fill_features(config::PolicyConfig& policy, const OrderedMap<DatasetFeature>& dataset,
                   const OrderedMap<std::string>& rename_map);

/// For each of the dataset's keys that a policy wants at other times than now: how many frames off.
OrderedMap<std::vector<std::int64_t>> delta_indices(const config::PolicyConfig& policy,
                                                    const std::vector<std::string>& keys);

}  // namespace lerobot::policy
