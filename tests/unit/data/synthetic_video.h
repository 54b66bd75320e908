#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "host/data/buffer.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {

/// A video of plain grey pictures.
struct GreyVideo {
  int width = 32, height = 32;
  int fps = 10, fps_divisor = 1;  ///< 30000 and 1001 for 29.97
  std::int64_t frames = 0;
  std::function<int(std::int64_t frame)> level = {};  ///< 0 to 49
  std::function<std::int64_t(std::int64_t frame)> time =
      {};  ///< in frames, where the pictures do not follow each other
  std::string encoder = "mpeg4";
  std::string options = {};  ///< of the encoder: "crf=10:preset=5"
};

/// Writes the video in the container of the file's extension, every second picture a key frame; `seekable` is false for
/// an output that cannot go back to fill in its header. Whether FFmpeg has the encoder: false when it does not.
bool write_grey_video(const std::filesystem::path& file, const GreyVideo& video, bool seekable = true);

/// The level that a decoded picture (3, H, W) shows.
int grey_level(const Buffer& pixels);

/// What frame `frame` of an episode shows in the videos of grey_camera.
int grey_level_of(std::int64_t episode, std::int64_t frame);

/// A video camera whose files hold their episodes end to end, at a whole number of frames per second.
SyntheticCamera grey_camera(const std::string& key, int width, int height, int fps);

/// The episodes with their places in the videos that grey_camera writes.
std::vector<SyntheticEpisode> end_to_end(std::vector<SyntheticEpisode> episodes, double fps);

}  // namespace lerobot::data
