#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string_view>

namespace lerobot::precision {

/// The five numbers of training_state/scaler_state.json (torch's GradScaler.state_dict).
struct ScalerState {
  double scale = 0;
  double growth_factor = 0;
  double backoff_factor = 0;
  std::int64_t growth_interval = 0;
  std::int64_t growth_tracker = 0;  ///< good updates since the scale last changed
};

boost::json::value to_json(const ScalerState& state);

/// Reads the object as strictly as Python does: exactly these keys, whole numbers where they are whole. Throws
/// Error(kCheckpoint) naming `source`, the key and the value for anything else, and for numbers that no scaler can have
/// (a scale that is zero, negative, not finite or beyond float32, a tracker at or above the interval, ...).
ScalerState read_scaler_state(const boost::json::value& json, std::string_view source);

}  // namespace lerobot::precision
