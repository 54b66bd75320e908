#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/data/metadata.h"

namespace lerobot::data {

/// Numbers of the episodes to train on and of those held out.
struct EpisodeSplit {
  std::vector<std::int64_t> train, held_out;
  std::int64_t tasks = 0;  ///< groups that were split, each by itself
};

/// Holds out the last ceil(n * share) of the n episodes of each task, as LeRobot does: an episode belongs to the first
/// of its tasks, and those without one are a group of their own. `share` is above 0 and below 1. Throws Error(kData)
/// when no episode is left to train on.
EpisodeSplit split_episodes(const std::vector<Episode>& episodes, double share);

/// The rows that stand for held-out data, given each row's task: all in order, or, with a `cap` above 0, the first
/// max(1, cap / tasks) rows of each task, tasks by their index.
std::vector<std::int64_t> evaluation_rows(std::span<const std::int64_t> task_of_row, std::int64_t cap);

}  // namespace lerobot::data
