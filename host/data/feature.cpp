#include "host/data/feature.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <functional>
#include <numeric>
#include <optional>

#include "host/base/error.h"
#include "host/data/buffer.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

/// names may be a list, an object of lists (as robots write it) or null.
void collect_names(const bj::value& value, std::vector<std::string>& names) {
  if (value.is_string()) names.emplace_back(value.get_string());
  if (value.is_array()) {
    for (const bj::value& entry : value.get_array()) collect_names(entry, names);
  }
  if (value.is_object()) {
    for (const auto& entry : value.get_object()) collect_names(entry.value(), names);
  }
}

bool is_true(const bj::object& feature, std::string_view group, std::string_view key) {
  const bj::value* info = feature.if_contains(group);
  if (info == nullptr || !info->is_object()) return false;
  const bj::value* flag = info->get_object().if_contains(key);
  return flag != nullptr && flag->is_bool() && flag->get_bool();
}

bool names_channels(const std::string& name) {
  return name == "channel" || name == "channels" || name == "c";
}

bool may_be_channels(std::int64_t size) {
  return size == 1 || size == 3 || size == 4;
}

/// The axis that holds the channels: by name, else the only one of a likely size, if that is at either end.
std::optional<std::size_t> channel_axis(const FeatureSpec& feature) {
  if (feature.names.size() == 3) {
    const auto at = std::find_if(feature.names.begin(), feature.names.end(), names_channels);
    if (at != feature.names.end()) return static_cast<std::size_t>(at - feature.names.begin());
  }
  if (std::count_if(feature.shape.begin(), feature.shape.end(), may_be_channels) != 1) return std::nullopt;
  if (may_be_channels(feature.shape[1])) return std::nullopt;
  return may_be_channels(feature.shape[0]) ? 0 : 2;
}

void check_camera(std::string_view key, const FeatureSpec& feature, std::string_view source) {
  if (feature.shape.size() != 3) {
    fail(ErrorKind::kData, "{}: camera {} has shape {}, needed three axes (height, width, channels).", source, key,
         shape_text(feature.shape));
  }
  const std::optional<std::size_t> axis = channel_axis(feature);
  if (!axis || *axis == 1) {
    fail(ErrorKind::kData,
         "{}: camera {} has shape {} and its names do not tell which axis holds the channels. Set its \"names\" to "
         "[\"height\", \"width\", \"channels\"] (or the order that is true).",
         source, key, shape_text(feature.shape));
  }
}

void check_size(std::string_view key, const std::vector<std::int64_t>& shape, std::string_view source) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // of one frame
  std::int64_t room = kMost;
  for (const std::int64_t size : shape) room /= size;
  if (room == 0) {
    fail(ErrorKind::kData, "{}: feature {} has shape {}, needed at most {} numbers in a frame.", source, key,
         shape_text(shape), kMost);
  }
}

FeatureSpec parse_feature(std::string_view key, const bj::value& value, std::string_view source) {
  if (!value.is_object()) fail(ErrorKind::kData, "{}: feature {} is not an object.", source, key);
  const bj::object& object = value.get_object();
  const bj::value* dtype = object.if_contains("dtype");
  const bj::value* shape = object.if_contains("shape");
  if (dtype == nullptr || !dtype->is_string() || shape == nullptr || !shape->is_array()) {
    fail(ErrorKind::kData, "{}: feature {} needs a \"dtype\" (text) and a \"shape\" (list).", source, key);
  }
  FeatureSpec feature;
  feature.dtype = std::string(dtype->get_string());
  for (const bj::value& size : shape->get_array()) {
    if (!size.is_int64() || size.get_int64() <= 0) {
      fail(ErrorKind::kData, "{}: feature {} has a shape that is not a list of positive whole numbers.", source, key);
    }
    feature.shape.push_back(size.get_int64());
  }
  check_size(key, feature.shape, source);
  if (const bj::value* names = object.if_contains("names")) collect_names(*names, feature.names);
  feature.is_depth = is_true(object, "info", "is_depth_map") || is_true(object, "info", "video.is_depth_map") ||
                     is_true(object, "video_info", "video.is_depth_map");
  if (feature.is_camera()) check_camera(key, feature, source);
  return feature;
}

}  // namespace

std::int64_t FeatureSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> FeatureSpec::policy_shape() const {
  if (is_camera() && channel_axis(*this) == std::size_t{2}) return {shape[2], shape[0], shape[1]};
  return shape;
}

std::vector<std::int64_t> FeatureSpec::item_shape() const {
  if (!is_camera() && shape == std::vector<std::int64_t>{1}) return {};
  return policy_shape();
}

OrderedMap<FeatureSpec> parse_features(const bj::value& value, std::string_view source) {
  if (!value.is_object()) fail(ErrorKind::kData, "{}: \"features\" is not an object.", source);
  OrderedMap<FeatureSpec> features;
  for (const auto& entry : value.get_object()) {
    const std::string key(entry.key());
    if (key.empty() || key.find('/') != std::string::npos) {
      fail(ErrorKind::kData, "{}: \"{}\" cannot name a feature: a name is not empty and has no '/'.", source, key);
    }
    features.append(key, parse_feature(key, entry.value(), source));
  }
  return features;
}

}  // namespace lerobot::data
