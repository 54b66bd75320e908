#pragma once

#include <cstdint>
#include <initializer_list>

namespace lerobot::data {

/// Random numbers that depend on the words of its key only (SplitMix64, begun at a hash of them): what a sample draws
/// is the same whichever thread draws it, and when.
class RandomStream {
 public:
  RandomStream(std::initializer_list<std::uint64_t> key) {
    for (const std::uint64_t word : key) state_ = mixed(state_ ^ word) + kStep;
  }

  std::uint64_t bits() { return mixed(state_ += kStep); }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  /// In [low, high), as the nearest float32: drawn parameters are float32 in LeRobot too.
  float uniform(double low, double high) { return static_cast<float>(low + (high - low) * uniform()); }
  /// One of low, ..., high.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(uniform() * static_cast<double>(high - low + 1));
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;

  static std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27U)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31U);
  }

  std::uint64_t state_ = 0;
};

}  // namespace lerobot::data
