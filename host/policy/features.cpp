#include "host/policy/features.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/policy/act_model.h"
#include "host/policy/shape_text.h"

namespace lerobot::policy {
namespace {

using config::FeatureType;
using config::PolicyFeature;

PolicyFeature visual_feature(const std::string& name, const DatasetFeature& feature) {
  if (feature.shape.size() != 3) {
    fail(ErrorKind::kData, "meta/info.json: {}: found shape {}, needed three dimensions for an image.", name,
         shape_text(feature.shape));
  }
  std::vector<std::int64_t> shape = feature.shape;
  const bool channels_last =
      feature.names.size() == 3 && (feature.names[2] == "channel" || feature.names[2] == "channels");
  if (channels_last) std::rotate(shape.begin(), shape.begin() + 2, shape.end());
  return {FeatureType::kVisual, shape};
}

std::optional<PolicyFeature> policy_feature(const std::string& name, const DatasetFeature& feature) {
  if (feature.dtype == "image" || feature.dtype == "video") return visual_feature(name, feature);
  if (name == kEnvironmentState) return PolicyFeature{FeatureType::kEnv, feature.shape};
  if (name.starts_with("observation")) return PolicyFeature{FeatureType::kState, feature.shape};
  if (name.starts_with(kAction)) return PolicyFeature{FeatureType::kAction, feature.shape};
  return std::nullopt;
}

std::vector<std::string> cameras(const config::Features& features) {
  std::vector<std::string> names;
  for (const auto& [name, feature] : features) {
    if (feature.type == FeatureType::kVisual) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : join(names, ", ");
}

/// Each name that is given is the dataset's, and no two features get the same one.
void check_renames(const OrderedMap<std::string>& rename_map, const OrderedMap<DatasetFeature>& dataset) {
  std::vector<std::string> names;
  for (const auto& [name, feature] : dataset) names.push_back(name);
  for (const auto& [from, to] : rename_map) {
    if (!dataset.contains(from)) {
      fail(ErrorKind::kConfig, "--rename_map: found {}, which the dataset lacks; needed one of: {}.", from,
           joined(names));
    }
    const auto same = std::find_if(names.begin(), names.end(), [&, &own = from, &target = to](const std::string& name) {
      const std::string* other = rename_map.find(name);
      return name != own && (other == nullptr ? name : *other) == target;
    });
    if (same != names.end()) {
      fail(ErrorKind::kConfig, "--rename_map: found {} for both {} and {}; needed a name of its own for each.", to,
           from, *same);
    }
  }
}

void check_cameras(const config::Features& policy, const config::Features& dataset) {
  const std::vector<std::string> wanted = cameras(policy), found = cameras(dataset);
  const bool fits = std::includes(wanted.begin(), wanted.end(), found.begin(), found.end()) ||
                    std::includes(found.begin(), found.end(), wanted.begin(), wanted.end());
  if (!fits) {
    fail(ErrorKind::kConfig,
         "cameras: found {} in the dataset, needed {} for the policy. Map them with "
         "--rename_map='{{\"dataset key\": \"policy key\"}}'.",
         joined(found), joined(wanted));
  }
}

}  // namespace

config::Features policy_features(const OrderedMap<DatasetFeature>& dataset) {
  config::Features features;
  for (const auto& [name, feature] : dataset) {
    if (const auto found = policy_feature(name, feature)) features.append(name, *found);
  }
  return features;
}

void fill_features(config::PolicyConfig& policy, const OrderedMap<DatasetFeature>& dataset,
                   const OrderedMap<std::string>& rename_map) {
  check_renames(rename_map, dataset);
  config::Features inputs, outputs;
  for (const auto& [name, feature] : policy_features(dataset)) {
    const std::string* renamed = rename_map.find(name);
    (feature.type == FeatureType::kAction ? outputs : inputs)[renamed == nullptr ? name : *renamed] = feature;
  }
  config::PolicyCommon& common = config::common(policy);
  common.output_features = outputs;
  if (common.input_features.empty()) common.input_features = inputs;
  check_cameras(common.input_features, inputs);
}

OrderedMap<std::vector<std::int64_t>> delta_indices(const config::PolicyConfig& policy,
                                                    const std::vector<std::string>& keys) {
  const auto* act = std::get_if<config::ActConfig>(&policy);
  if (act == nullptr) fail(ErrorKind::kConfig, "--policy.type: found {}, needed act.", config::type_name(policy));
  OrderedMap<std::vector<std::int64_t>> deltas;
  if (std::find(keys.begin(), keys.end(), kAction) != keys.end()) {
    std::vector<std::int64_t>& action = deltas[kAction];
    action.resize(act->chunk_size);
    std::iota(action.begin(), action.end(), 0);
  }
  return deltas;
}

}  // namespace lerobot::policy
