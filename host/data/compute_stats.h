#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "host/data/dataset.h"
#include "host/data/stats.h"

namespace lerobot::data {

/// The frames of an episode whose pictures stand for all in LeRobot's statistics: max(min(100, n), min(n^0.75, 10000))
/// of them, evenly spaced.
std::vector<std::int64_t> sampled_frames(std::int64_t length);

/// min, max, mean, std and count of each number of a feature over the dataset's rows, in double precision. LeRobot
/// computes them episode by episode in single precision and joins these.
FeatureStats number_stats(const Dataset& dataset, std::string_view key);

/// The same of a camera's channels, shape (C, 1, 1), 8-bit values divided by 255: over the sampled frames of each
/// episode, of pictures of 300 pixels or more only every (longer side / 150)-th column and row, as LeRobot does.
/// `on_frame` is called after each frame. Throws Error(kData) as Dataset::picture does.
FeatureStats camera_stats(const Dataset& dataset, std::string_view key, const std::function<void()>& on_frame);

/// Frames that camera_stats looks at.
std::int64_t sampled_frame_count(const Dataset& dataset);

}  // namespace lerobot::data
