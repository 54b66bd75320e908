#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/data/finding.h"
#include "host/data/frame_table.h"
#include "host/data/metadata.h"

namespace lerobot::data {

/// The chosen episodes: numbers looked up by value. Throws Error(kData) for numbers that are not there or come twice,
/// or when nothing is left.
std::vector<Episode> choose_episodes(const DatasetMetadata& metadata,
                                     const std::optional<std::vector<std::int64_t>>& episodes,
                                     const std::optional<std::vector<std::int64_t>>& exclude);

/// Each data and video file of these episodes: there and whole; videos of the declared size, and long enough for the
/// episodes' spans. All offenders are listed in one Error(kData).
void check_files(const DatasetMetadata& metadata, const std::vector<Episode>& episodes);
/// The offenders among the videos.
std::vector<Finding> video_findings(const DatasetMetadata& metadata, const std::vector<Episode>& episodes);

/// Each timestamp against frame_index / fps, inside its episode, in double precision, within `tolerance_s` and the step
/// of float32 at that time. Throws Error(kData) with the count, the worst and at most 10 offenders.
void check_timestamps(const DatasetMetadata& metadata, const std::vector<Episode>& episodes, const FrameTable& table,
                      double tolerance_s);

/// Each task_index of these episodes has a text. Throws Error(kData) naming the file and the episode.
void check_tasks(const DatasetMetadata& metadata, const std::vector<Episode>& episodes, const FrameTable& table);
/// Values of one column that are no numbers.
struct NonFiniteColumn {
  std::string key;
  std::int64_t nan = 0, infinite = 0;
  std::int64_t first_row = 0;
};

/// The columns of floats that hold NaN or infinities, with how many: one pass over the table.
std::vector<NonFiniteColumn> find_non_finite(const FrameTable& table);

/// Warns, in one line, of all columns that find_non_finite finds. A run on them goes on until it meets such a frame.
void warn_about_non_finite(const std::vector<Episode>& episodes, const FrameTable& table);

/// The distance from |seconds| to the next float32: what storing a time as float32 may lose.
double float32_step(double seconds);

}  // namespace lerobot::data
