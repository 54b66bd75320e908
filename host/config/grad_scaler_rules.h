#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace lerobot::config {

// The ranges of the loss scaler's numbers, in flags and in a saved state: those of newer LeRobot releases, and what
// float32 (the scale) and int32 (the tracker) can hold.

inline bool is_loss_scale(double value) {
  return value > 0 && value <= std::numeric_limits<float>::max() && static_cast<float>(value) > 0;
}
inline bool is_growth_factor(double value) {
  return value > 1 && std::isfinite(value);
}
inline bool is_backoff_factor(double value) {
  return value > 0 && value < 1;
}
inline constexpr std::int64_t kMaxGrowthInterval = std::numeric_limits<std::int32_t>::max();

}  // namespace lerobot::config
