#include "host/data/preflight.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <unordered_set>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/data/file_check.h"
#include "host/data/video_decoder.h"

namespace lerobot::data {
namespace {

constexpr std::size_t kMaxListed = 10;
/// Said once, at the end of the list, and not with each file.
constexpr std::string_view kCure = ". Fetch the file again.";

void check_numbers(const DatasetMetadata& metadata, const std::vector<std::int64_t>& numbers, std::string_view flag) {
  std::unordered_set<std::int64_t> known;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = 0;
  for (const Episode& episode : metadata.episodes()) {
    known.insert(episode.index);
    lowest = std::min(lowest, episode.index);
    highest = std::max(highest, episode.index);
  }
  std::vector<std::string> missing, twice;
  std::unordered_set<std::int64_t> seen;
  for (const std::int64_t number : numbers) {
    if (!known.contains(number)) missing.push_back(std::to_string(number));
    if (!seen.insert(number).second) twice.push_back(std::to_string(number));
  }
  if (!missing.empty()) {
    fail(ErrorKind::kData,
         "{} names episodes that the dataset does not have: {}. It has {} episodes, numbered from {} to {}.", flag,
         join(missing, ", "), metadata.episodes().size(), lowest, highest);
  }
  if (!twice.empty()) {
    fail(ErrorKind::kData, "{} names episodes more than once: {}. Name each once.", flag, join(twice, ", "));
  }
}

/// One OR over the bits, which the compiler turns into vector instructions: the exponent of what is not finite is full.
bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000U;
  std::uint32_t full = 0;
  for (const float value : values)
    full |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
  return full == 0;
}

/// Opens each video file once and remembers what its header says, or what is wrong with it.
class VideoCheck {
 public:
  explicit VideoCheck(const DatasetMetadata& metadata) : metadata_(metadata) {}

  void check(const Episode& episode, std::size_t video) {
    const std::string path = metadata_.video_path(episode, video);
    const VideoInfo* info = probe(path, video);
    if (info == nullptr) return;
    const EpisodeVideo& span = episode.videos[video];
    const double frame = 1 / metadata_.fps();
    const double needed = static_cast<double>(episode.length()) * frame;
    // One frame of slack: durations are rounded, and a tolerance error tells of a single missing frame later.
    const bool too_short = !(span.to_timestamp - span.from_timestamp + frame >= needed);
    const bool outside = !(span.from_timestamp >= -frame && span.from_timestamp + needed <= info->duration + frame);
    if (!too_short && !outside) return;
    findings_.push_back(
        {path, format("episode {} ({} frames, {} s) is at {} to {} s of {}, which has {} s", episode.index,
                      episode.length(), needed, span.from_timestamp, span.to_timestamp, path, info->duration)});
  }

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  /// Null when the file cannot be used, which was noted the first time.
  const VideoInfo* probe(const std::string& path, std::size_t video) {
    const auto [entry, is_new] = files_.try_emplace(path);
    if (!is_new) return entry->second ? &*entry->second : nullptr;
    try {
      VideoInfo info = probe_video(metadata_.root(), path);
      check_size(path, info, metadata_.features().find(metadata_.video_keys()[video])->policy_shape());
      entry->second = std::move(info);
      return &*entry->second;
    } catch (const Error& error) {
      std::string problem = error.what();
      if (problem.ends_with(kCure)) problem.resize(problem.size() - kCure.size());
      findings_.push_back({path, std::move(problem)});
      return nullptr;
    }
  }

  static void check_size(const std::string& path, const VideoInfo& info, const std::vector<std::int64_t>& declared) {
    if (declared == std::vector<std::int64_t>{3, info.height, info.width}) return;
    fail(ErrorKind::kData, "{}: frames are {}x{} RGB, but meta/info.json declares {} (channels, height, width)", path,
         info.width, info.height, shape_text(declared));
  }

  const DatasetMetadata& metadata_;
  std::map<std::string, std::optional<VideoInfo>> files_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Episode> choose_episodes(const DatasetMetadata& metadata,
                                     const std::optional<std::vector<std::int64_t>>& episodes,
                                     const std::optional<std::vector<std::int64_t>>& exclude) {
  const std::vector<std::int64_t> wanted = episodes.value_or(std::vector<std::int64_t>{});
  const std::vector<std::int64_t> unwanted = exclude.value_or(std::vector<std::int64_t>{});
  check_numbers(metadata, wanted, "--dataset.episodes");
  check_numbers(metadata, unwanted, "--dataset.exclude_episodes");
  const std::unordered_set<std::int64_t> keep(wanted.begin(), wanted.end());
  const std::unordered_set<std::int64_t> leave_out(unwanted.begin(), unwanted.end());
  std::vector<Episode> chosen;
  for (const Episode& episode : metadata.episodes()) {
    const bool is_wanted = keep.empty() || keep.contains(episode.index);
    if (is_wanted && !leave_out.contains(episode.index)) chosen.push_back(episode);
  }
  if (chosen.empty()) fail(ErrorKind::kData, "no episodes are left: --dataset.exclude_episodes names all of them.");
  return chosen;
}

std::vector<Finding> video_findings(const DatasetMetadata& metadata, const std::vector<Episode>& episodes) {
  VideoCheck videos(metadata);
  for (const Episode& episode : episodes) {
    for (std::size_t video = 0; video < metadata.video_keys().size(); ++video) videos.check(episode, video);
  }
  return videos.findings();
}

void check_files(const DatasetMetadata& metadata, const std::vector<Episode>& episodes) {
  std::vector<std::string> problems = file_problems(metadata.root(), metadata.data_files(episodes));
  for (Finding& finding : video_findings(metadata, episodes)) problems.push_back(std::move(finding.text));
  refuse_file_problems(metadata.root(), problems);
}

void check_tasks(const DatasetMetadata& metadata, const std::vector<Episode>& episodes, const FrameTable& table) {
  const std::int64_t* task_indices = table.integers("task_index");
  for (const Episode& episode : episodes) {
    for (std::int64_t row = episode.first_row; row < episode.first_row + episode.length(); ++row) {
      if (metadata.tasks().contains(task_indices[row])) continue;
      fail(ErrorKind::kData, "{}: task_index {} in episode {} has no text in {}.", metadata.data_path(episode),
           task_indices[row], episode.index, metadata.layout().tasks);
    }
  }
}

double float32_step(double seconds) {
  const auto value = static_cast<float>(std::abs(seconds));
  return static_cast<double>(std::nextafter(value, std::numeric_limits<float>::infinity())) -
         static_cast<double>(value);
}

void check_timestamps(const DatasetMetadata& metadata, const std::vector<Episode>& episodes, const FrameTable& table,
                      double tolerance_s) {
  const float* timestamps = table.floats("timestamp");
  const std::int64_t* frame_indices = table.integers("frame_index");
  std::vector<std::string> offenders;
  double worst = 0;
  for (const Episode& episode : episodes) {
    for (std::int64_t row = episode.first_row; row < episode.first_row + episode.length(); ++row) {
      const double expected = static_cast<double>(frame_indices[row]) / metadata.fps();
      const double found = static_cast<double>(timestamps[row]);
      const double deviation = std::abs(found - expected);
      if (deviation <= tolerance_s + float32_step(expected)) continue;
      if (!(deviation <= worst)) worst = deviation;
      offenders.push_back(
          format("episode {} frame {}: {} s, expected {} s", episode.index, frame_indices[row], found, expected));
    }
  }
  if (offenders.empty()) return;
  fail(ErrorKind::kData,
       "column timestamp differs from frame_index / {} in {} rows by up to {} s, allowed are {} s: {}. Correct fps or "
       "the column, or raise --tolerance_s.",
       metadata.fps(), offenders.size(), worst, tolerance_s, list_some(offenders, kMaxListed));
}

std::vector<NonFiniteColumn> find_non_finite(const FrameTable& table) {
  std::vector<NonFiniteColumn> columns;
  for (const auto& [key, column] : table.columns()) {
    if (column.dtype != DType::kFloat32) continue;
    const std::span<const float> values{reinterpret_cast<const float*>(column.data.data()),
                                        column.data.size() / sizeof(float)};
    if (all_finite(values)) continue;
    NonFiniteColumn found{.key = key};
    for (std::size_t i = values.size(); i-- > 0;) {
      if (std::isfinite(values[i])) continue;
      ++(std::isnan(values[i]) ? found.nan : found.infinite);
      found.first_row = static_cast<std::int64_t>(i * sizeof(float) / column.row_bytes);
    }
    columns.push_back(std::move(found));
  }
  return columns;
}

void warn_about_non_finite(const std::vector<Episode>& episodes, const FrameTable& table) {
  std::vector<std::string> texts;
  for (const NonFiniteColumn& column : find_non_finite(table)) {
    const Episode& episode = episodes[table.episode_of(column.first_row)];
    texts.push_back(format("{} ({} NaN, {} infinite, first in episode {} frame {})", column.key, column.nan,
                           column.infinite, episode.index, table.integers("frame_index")[column.first_row]));
  }
  if (texts.empty()) return;
  log::warn(
      "the data holds values that are not finite: {}. Training stops at the first of them that it uses: correct the "
      "data, or leave the episodes out with --dataset.exclude_episodes",
      join(texts, ", "));
}

}  // namespace lerobot::data
