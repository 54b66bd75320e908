#include "host/data/stats.h"

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/buffer.h"
#include "host/data/layout.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

/// Appends a nested list's numbers and checks that it is a full block. `depth` is the axis of `value`.
bool collect(const bj::value& value, std::size_t depth, Stat& stat) {
  if (!value.is_array()) {
    if (value.is_bool() && depth == stat.shape.size()) {
      stat.values.push_back(value.get_bool() ? 1 : 0);
      return true;
    }
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

Stat parse_stat(std::string_view source, std::string_view feature, std::string_view name, const bj::value& value) {
  Stat stat;
  if (!collect(value, 0, stat)) {
    fail(ErrorKind::kData, "{}: {} of {} is not a number or a full nested list of numbers.", source, name, feature);
  }
  if (stat.shape.empty()) stat.shape = {1};
  return stat;
}

}  // namespace

DatasetStats parse_stats(const bj::object& document, std::string_view source, const OrderedMap<FeatureSpec>& features) {
  DatasetStats stats;
  for (const auto& feature : document) {
    const std::string key(feature.key());
    const FeatureSpec* spec = features.find(key);
    if (!feature.value().is_object()) fail(ErrorKind::kData, "{}: {} is not an object.", source, key);
    FeatureStats& own = stats[key];
    for (const auto& entry : feature.value().get_object()) {
      if (is_absent(entry.value())) continue;
      const std::string name(entry.key());
      Stat stat = parse_stat(source, key, name, entry.value());
      if (spec != nullptr && spec->is_camera() && name != "count") reshape_for_camera(stat);
      own.append(name, std::move(stat));
    }
  }
  return stats;
}

DatasetStats load_stats(const std::filesystem::path& root, const OrderedMap<FeatureSpec>& features) {
  const std::filesystem::path path = root / kLayoutV30.stats;
  if (!std::filesystem::exists(path)) return {};
  const bj::value document = json::read_file(path, ErrorKind::kData, json::NonFinite::kAccept);
  if (!document.is_object()) fail(ErrorKind::kData, "{}: not an object.", kLayoutV30.stats);
  return parse_stats(document.get_object(), kLayoutV30.stats, features);
}

void imagenet_stats(DatasetStats& stats, const std::vector<std::string>& camera_keys) {
  for (const std::string& key : camera_keys) {
    stats[key]["mean"] = {{3, 1, 1}, {0.485, 0.456, 0.406}};
    stats[key]["std"] = {{3, 1, 1}, {0.229, 0.224, 0.225}};
  }
}

}  // namespace lerobot::data
