#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "host/base/error.h"
#include "host/data/buffer.h"
#include "host/data/stats.h"

namespace lerobot::data {
namespace {

constexpr std::array<std::string_view, 5> kNeeded = {"min", "max", "mean", "std", "count"};

using Parts = std::vector<const FeatureStats*>;

/// The percentage of "q01", "q50", ..., or nothing.
std::optional<int> percentage(std::string_view name) {
  int value = 0;
  if (name.size() < 2 || name[0] != 'q') return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), value);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return value;
}

bool all_have(const Parts& parts, std::string_view name) {
  return std::ranges::all_of(parts, [&](const FeatureStats* part) { return part->contains(name); });
}

/// One statistic's entries, each folded over the parts.
Stat fold(const Parts& parts, std::string_view name, const std::function<double(double, double)>& step) {
  Stat result = *parts.front()->find(name);
  for (const FeatureStats* part : parts) {
    std::ranges::transform(result.values, part->find(name)->values, result.values.begin(), step);
  }
  return result;
}

/// sum(count * value(part)) / sum(count), entry by entry.
Stat weighted(const Parts& parts, double total,
              const std::function<double(const FeatureStats& part, std::size_t entry)>& value) {
  Stat result = *parts.front()->find("mean");
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    double sum = 0;
    for (const FeatureStats* part : parts) sum += value(*part, i) * part->find("count")->values.front();
    result.values[i] = sum / total;
  }
  return result;
}

FeatureStats aggregate(const Parts& parts) {
  double total = 0;
  for (const FeatureStats* part : parts) total += part->find("count")->values.front();
  FeatureStats result;
  result.append("min", fold(parts, "min", [](double a, double b) { return std::min(a, b); }));
  result.append("max", fold(parts, "max", [](double a, double b) { return std::max(a, b); }));
  const Stat mean =
      weighted(parts, total, [](const FeatureStats& part, std::size_t i) { return part.find("mean")->values[i]; });
  Stat deviation = weighted(parts, total, [&](const FeatureStats& part, std::size_t i) {
    const double own = part.find("std")->values[i], away = part.find("mean")->values[i] - mean.values[i];
    return own * own + away * away;
  });
  for (double& value : deviation.values) value = std::sqrt(value);
  result.append("mean", mean);
  result.append("std", deviation);
  result.append("count", {{1}, {total}});
  for (const auto& entry : *parts.front()) {
    const std::optional<int> percent = percentage(entry.first);
    if (!percent || !all_have(parts, entry.first)) continue;
    result.append(entry.first, fold(parts, entry.first, [low = *percent <= 50](double a, double b) {
                    return low ? std::min(a, b) : std::max(a, b);
                  }));
  }
  return result;
}

void check_shapes(const Parts& parts, const std::string& feature, std::string_view source) {
  for (const FeatureStats* part : parts) {
    for (const auto& [name, stat] : *part) {
      const Stat* first = parts.front()->find(name);
      if (first == nullptr || first->shape == stat.shape) continue;
      fail(ErrorKind::kData, "{}: {} of {} has shape {} in one episode and {} in another, needed equal ones.", source,
           name, feature, shape_text(first->shape), shape_text(stat.shape));
    }
  }
}

}  // namespace

DatasetStats aggregate_stats(const std::vector<DatasetStats>& parts, std::string_view source) {
  DatasetStats result;
  OrderedMap<Parts> by_feature;
  for (const DatasetStats& part : parts) {
    for (const auto& [feature, stats] : part) by_feature[feature].push_back(&stats);
  }
  for (const auto& [feature, own] : by_feature) {
    if (!std::ranges::all_of(kNeeded, [&own = own](std::string_view name) { return all_have(own, name); })) continue;
    check_shapes(own, feature, source);
    result.append(feature, aggregate(own));
  }
  return result;
}

}  // namespace lerobot::data
