#include "host/policy/processor_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "host/base/error.h"

namespace lerobot::policy {
namespace {

namespace bj = boost::json;

bj::object step(std::string_view registry_name, bj::object config, std::string_view state_file = {}) {
  bj::object step{{"registry_name", registry_name}, {"config", std::move(config)}};
  if (!state_file.empty()) step["state_file"] = state_file;
  return step;
}

bj::object normalizer_config(const Normalization& normalization) {
  bj::object features, modes;
  for (const auto& [name, feature] : normalization.features) {
    features[name] = {{"type", config::name(feature.type)},
                      {"shape", bj::array(feature.shape.begin(), feature.shape.end())}};
  }
  for (const auto& [type, mode] : normalization.norm_map) modes[type] = config::name(mode);
  return {{"eps", normalization.eps}, {"features", std::move(features)}, {"norm_map", std::move(modes)}};
}

// A member of an object, of the wanted kind.
const bj::value& member(const bj::value& object, std::string_view key, bj::kind kind, std::string_view file) {
  const bj::value* found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  if (found == nullptr || found->kind() != kind) {
    fail(ErrorKind::kCheckpoint, "{}: {}: found {}, needed {}. Use a checkpoint that LeRobot or this program wrote.",
         file, key, found == nullptr ? std::string_view("nothing") : std::string_view(bj::to_string(found->kind())),
         std::string_view(bj::to_string(kind)));
  }
  return *found;
}

std::string text(const bj::value& object, std::string_view key, std::string_view file) {
  return std::string(member(object, key, bj::kind::string, file).get_string());
}

config::PolicyFeature read_feature(const bj::value& json, std::string_view file) {
  config::PolicyFeature feature;
  const std::string type = text(json, "type", file);
  const auto known = config::feature_type_from(type);
  if (!known) fail(ErrorKind::kCheckpoint, "{}: found feature type {}, which this program does not know.", file, type);
  feature.type = *known;
  for (const bj::value& n : member(json, "shape", bj::kind::array, file).get_array()) {
    if (!n.is_int64())
      fail(ErrorKind::kCheckpoint, "{}: shape: found {}, needed integers.", file,
           std::string_view(bj::to_string(n.kind())));
    feature.shape.push_back(n.get_int64());
  }
  return feature;
}

// The step that normalizes; every other one must be known.
const bj::value& normalizer_step(const bj::value& pipeline, std::string_view file) {
  const bj::value* found = nullptr;
  for (const bj::value& step : member(pipeline, "steps", bj::kind::array, file).get_array()) {
    const std::string name = text(step, "registry_name", file);
    if (name == "normalizer_processor" || name == "unnormalizer_processor") {
      found = &step;
    } else if (name != "rename_observations_processor" && name != "to_batch_processor" && name != "device_processor") {
      fail(ErrorKind::kCheckpoint,
           "{}: found the step {}, which this program does not have. Use a checkpoint of an ACT policy.", file, name);
    }
  }
  if (found == nullptr) fail(ErrorKind::kCheckpoint, "{}: found no normalizer step, needed one.", file);
  return *found;
}

}  // namespace

bj::value preprocessor_json(const Normalization& normalization, const OrderedMap<std::string>& rename_map,
                            std::string_view device) {
  bj::object renames;
  for (const auto& [from, to] : rename_map) renames[from] = to;
  bj::array steps{step("rename_observations_processor", {{"rename_map", std::move(renames)}}),
                  step("to_batch_processor", {}),
                  step("device_processor", {{"device", device}, {"float_dtype", nullptr}}),
                  step("normalizer_processor", normalizer_config(normalization), kPreprocessorState)};
  return {{"name", "policy_preprocessor"}, {"steps", std::move(steps)}};
}

bj::value postprocessor_json(const Normalization& normalization) {
  bj::array steps{step("unnormalizer_processor", normalizer_config(normalization), kPostprocessorState),
                  step("device_processor", {{"device", "cpu"}, {"float_dtype", nullptr}})};
  return {{"name", "policy_postprocessor"}, {"steps", std::move(steps)}};
}

Normalization read_normalization(const bj::value& pipeline, const OrderedMap<at::Tensor>& state,
                                 std::string_view file) {
  const bj::value& config = member(normalizer_step(pipeline, file), "config", bj::kind::object, file);
  if (const bj::value* keys = config.get_object().if_contains("normalize_observation_keys");
      keys != nullptr && !keys->is_null()) {
    fail(ErrorKind::kCheckpoint, "{}: found normalize_observation_keys, which this program cannot honour.", file);
  }
  Normalization normalization;
  normalization.eps = member(config, "eps", bj::kind::double_, file).get_double();
  for (const auto& [name, feature] : member(config, "features", bj::kind::object, file).get_object()) {
    normalization.features[std::string_view(name)] = read_feature(feature, file);
  }
  const bj::value& modes = member(config, "norm_map", bj::kind::object, file);
  for (const auto& [type, unused] : modes.get_object()) {
    const std::string name = text(modes, type, file);
    const auto mode = config::normalization_mode_from(name);
    if (!mode)
      fail(ErrorKind::kCheckpoint, "{}: found normalization mode {}, which this program does not know.", file, name);
    normalization.norm_map[std::string_view(type)] = *mode;
  }
  for (const auto& [name, tensor] : state) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos)
      fail(ErrorKind::kCheckpoint, "{}: found the tensor {} in the state, needed <feature>.<statistic>.", file, name);
    normalization.stats[name.substr(0, dot)][name.substr(dot + 1)] = tensor;
  }
  return normalization;
}

}  // namespace lerobot::policy
