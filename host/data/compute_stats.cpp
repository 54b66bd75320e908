#include "host/data/compute_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/base/error.h"

namespace lerobot::data {
namespace {

constexpr std::int64_t kFewest = 100, kMost = 10'000;
constexpr std::int64_t kLargePicture = 300, kThinnedTo = 150;

/// What is known of one number or channel after each value. The squares are of distances to the first value, so that
/// little is lost where the values are large and their spread is small.
class Moments {
 public:
  void add(double value) {
    if (count_ == 0) origin_ = value;
    const double distance = value - origin_;
    sum_ += distance;
    squares_ += distance * distance;
    least_ = std::min(least_, value);
    greatest_ = std::max(greatest_, value);
    if (std::isnan(value)) least_ = greatest_ = value;
    ++count_;
  }
  double least() const { return least_; }
  double greatest() const { return greatest_; }
  double mean() const { return origin_ + sum_ / static_cast<double>(count_); }
  /// Of the population, as LeRobot's.
  double deviation() const {
    const auto n = static_cast<double>(count_);
    return std::sqrt(std::max(0.0, squares_ / n - sum_ / n * (sum_ / n)));
  }

 private:
  double origin_ = 0, sum_ = 0, squares_ = 0;
  double least_ = std::numeric_limits<double>::infinity(), greatest_ = -least_;
  std::int64_t count_ = 0;
};

FeatureStats to_stats(const std::vector<Moments>& moments, const std::vector<std::int64_t>& shape, std::int64_t count) {
  const auto each = [&](double (Moments::*value)() const) {
    Stat stat{shape, {}};
    for (const Moments& entry : moments) stat.values.push_back((entry.*value)());
    return stat;
  };
  return {{"min", each(&Moments::least)},
          {"max", each(&Moments::greatest)},
          {"mean", each(&Moments::mean)},
          {"std", each(&Moments::deviation)},
          {"count", {{1}, {static_cast<double>(count)}}}};
}

template <class T>
void add_rows(const FrameTable::Column& column, std::vector<Moments>& moments) {
  const auto* values = reinterpret_cast<const T*>(column.data.data());
  const std::size_t size = column.data.size() / sizeof(T);
  for (std::size_t i = 0; i < size; ++i) moments[i % moments.size()].add(static_cast<double>(values[i]));
}

/// Every `stride`-th pixel of every `stride`-th row.
template <class T>
void add_pixels(const Buffer& picture, double scale, std::vector<Moments>& channels) {
  const std::int64_t height = picture.shape[1], width = picture.shape[2];
  const std::int64_t longer = std::max(height, width);
  const std::int64_t stride = longer < kLargePicture ? 1 : longer / kThinnedTo;
  const T* plane = elements_of<T>(picture);
  for (Moments& channel : channels) {
    for (std::int64_t y = 0; y < height; y += stride) {
      for (std::int64_t x = 0; x < width; x += stride) channel.add(static_cast<double>(plane[y * width + x]) / scale);
    }
    plane += height * width;
  }
}

}  // namespace

std::vector<std::int64_t> sampled_frames(std::int64_t length) {
  const auto by_power = static_cast<std::int64_t>(std::pow(static_cast<double>(length), 0.75));
  const std::int64_t count = std::max(std::min(kFewest, length), std::min(by_power, kMost));
  std::vector<std::int64_t> frames;
  const double step = count > 1 ? static_cast<double>(length - 1) / static_cast<double>(count - 1) : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    // To even at halves, as numpy rounds.
    frames.push_back(static_cast<std::int64_t>(std::nearbyint(static_cast<double>(i) * step)));
  }
  return frames;
}

FeatureStats number_stats(const Dataset& dataset, std::string_view key) {
  const FrameTable::Column* column = dataset.table().columns().find(key);
  if (column == nullptr) fail(ErrorKind::kInternal, "column {} was not read.", key);
  const std::int64_t width = static_cast<std::int64_t>(column->row_bytes / item_size(column->dtype));
  std::vector<Moments> moments(static_cast<std::size_t>(width));
  switch (column->dtype) {
    case DType::kBool:
      add_rows<bool>(*column, moments);
      break;
    case DType::kInt64:
      add_rows<std::int64_t>(*column, moments);
      break;
    default:
      add_rows<float>(*column, moments);
  }
  const std::vector<std::int64_t>& shape = dataset.metadata().features().find(key)->shape;
  return to_stats(moments, shape, dataset.num_frames());
}

FeatureStats camera_stats(const Dataset& dataset, std::string_view key, const std::function<void()>& on_frame) {
  const std::int64_t channels = dataset.metadata().features().find(key)->policy_shape().front();
  std::vector<Moments> moments(static_cast<std::size_t>(channels));
  for (const Episode& episode : dataset.episodes()) {
    for (const std::int64_t frame : sampled_frames(episode.length())) {
      const auto picture = dataset.picture(key, episode.first_row + frame);
      if (picture->dtype == DType::kUInt8) {
        add_pixels<std::uint8_t>(*picture, 255, moments);
      } else {
        add_pixels<float>(*picture, 1, moments);
      }
      on_frame();
    }
  }
  return to_stats(moments, {channels, 1, 1}, sampled_frame_count(dataset));
}

std::int64_t sampled_frame_count(const Dataset& dataset) {
  std::int64_t count = 0;
  for (const Episode& episode : dataset.episodes()) count += std::ssize(sampled_frames(episode.length()));
  return count;
}

}  // namespace lerobot::data
