#include "host/data/windows.h"

#include <cmath>
#include <string>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/text.h"

namespace lerobot::data {

DeltaIndices delta_indices(const OrderedMap<std::vector<double>>& delta_timestamps, double fps, double tolerance_s,
                           const OrderedMap<FeatureSpec>& features) {
  DeltaIndices result;
  std::vector<std::string> offenders;
  for (const auto& [key, seconds] : delta_timestamps) {
    const FeatureSpec* feature = features.find(key);
    if (feature == nullptr || feature->is_string() || feature->is_language()) {
      fail(ErrorKind::kData, "delta_timestamps name {}, which is no feature of numbers or images in meta/info.json.",
           key);
    }
    if (seconds.empty()) fail(ErrorKind::kData, "delta_timestamps of {} are empty, needed at least one.", key);
    std::vector<std::int64_t>& indices = result[key];
    for (const double delta : seconds) {
      const double frames = std::nearbyint(delta * fps);
      if (!(std::abs(delta * fps - frames) / fps <= tolerance_s)) {
        offenders.push_back(key + " " + json::float_repr(delta));
      }
      indices.push_back(static_cast<std::int64_t>(frames));
    }
  }
  if (!offenders.empty()) {
    fail(ErrorKind::kData, "delta_timestamps must be whole multiples of 1/{} s within {} s; these are not: {}.", fps,
         tolerance_s, join(offenders, ", "));
  }
  return result;
}

}  // namespace lerobot::data
