#include "host/data/stats.h"

#include <cmath>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/buffer.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

constexpr std::string_view kStatsPath = "meta/stats.json";

/// Appends a nested list's numbers and checks that it is a full block. `depth` is the axis of `value`.
bool collect(const bj::value& value, std::size_t depth, Stat& stat) {
  if (!value.is_array()) {
    if (!value.is_number() || depth != stat.shape.size()) return false;
    stat.values.push_back(value.to_number<double>());
    return true;
  }
  const bj::array& list = value.get_array();
  if (depth == stat.shape.size()) {
    if (!stat.values.empty()) return false;
    stat.shape.push_back(static_cast<std::int64_t>(list.size()));
  }
  if (stat.shape[depth] != static_cast<std::int64_t>(list.size())) return false;
  for (const bj::value& entry : list) {
    if (!collect(entry, depth + 1, stat)) return false;
  }
  return true;
}

bool is_absent(const bj::value& value) {
  return value.is_null() || (value.is_array() && value.get_array().empty());
}

/// Channel statistics are written as (C, 1, 1), (C) or (1, C, 1, 1).
void reshape_for_camera(Stat& stat) {
  if (stat.values.size() <= 4 && stat.shape.size() != 3) {
    stat.shape = {static_cast<std::int64_t>(stat.values.size()), 1, 1};
  }
}

Stat parse_stat(std::string_view feature, std::string_view name, const bj::value& value) {
  Stat stat;
  if (!collect(value, 0, stat)) {
    fail(ErrorKind::kData, "{}: {} of {} is not a number or a full nested list of numbers.", kStatsPath, name, feature);
  }
  if (stat.shape.empty()) stat.shape = {1};
  return stat;
}

}  // namespace

DatasetStats load_stats(const std::filesystem::path& root, const OrderedMap<FeatureSpec>& features) {
  DatasetStats stats;
  const std::filesystem::path path = root / kStatsPath;
  if (!std::filesystem::exists(path)) return stats;
  const bj::value document = json::read_file(path, ErrorKind::kData, json::NonFinite::kAccept);
  if (!document.is_object()) fail(ErrorKind::kData, "{}: not an object.", kStatsPath);
  for (const auto& feature : document.get_object()) {
    const std::string key(feature.key());
    const FeatureSpec* spec = features.find(key);
    if (!feature.value().is_object()) fail(ErrorKind::kData, "{}: {} is not an object.", kStatsPath, key);
    FeatureStats& own = stats[key];
    for (const auto& entry : feature.value().get_object()) {
      if (is_absent(entry.value())) continue;
      const std::string name(entry.key());
      Stat stat = parse_stat(key, name, entry.value());
      if (spec != nullptr && spec->is_camera() && name != "count") reshape_for_camera(stat);
      own.append(name, std::move(stat));
    }
  }
  return stats;
}

const Stat& find_finite_stat(const DatasetStats& stats, std::string_view feature, std::string_view name) {
  const FeatureStats* own = stats.find(feature);
  const Stat* stat = own == nullptr ? nullptr : own->find(name);
  if (stat == nullptr) {
    fail(ErrorKind::kData, "{}: {} of {} is missing, and its normalization needs it. Recompute the statistics.",
         kStatsPath, name, feature);
  }
  for (std::size_t i = 0; i < stat->values.size(); ++i) {
    if (!std::isfinite(stat->values[i])) {
      fail(ErrorKind::kData, "{}: {} of {} has {} at place {}, needed a finite number. Recompute the statistics.",
           kStatsPath, name, feature, json::float_repr(stat->values[i]), i);
    }
  }
  return *stat;
}

void imagenet_stats(DatasetStats& stats, const std::vector<std::string>& camera_keys) {
  for (const std::string& key : camera_keys) {
    stats[key]["mean"] = {{3, 1, 1}, {0.485, 0.456, 0.406}};
    stats[key]["std"] = {{3, 1, 1}, {0.229, 0.224, 0.225}};
  }
}

}  // namespace lerobot::data
