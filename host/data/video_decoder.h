#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "host/data/buffer.h"
#include "host/data/buffer_pool.h"

namespace lerobot::data {

/// What a video file's header says.
struct VideoInfo {
  std::string codec;
  std::int64_t width = 0, height = 0;
  double duration = 0;  ///< seconds; found by reading all packets when the header has none
};

/// One frame and its own presentation time.
struct VideoFrame {
  Buffer pixels;  ///< uint8 (3, H, W), RGB
  double seconds = 0;
};

/// One open video file. For one thread at a time. All errors are Error(kData) with the relative path.
class VideoDecoder {
 public:
  VideoDecoder(const std::filesystem::path& root, std::string relative_path);
  ~VideoDecoder();
  VideoDecoder(const VideoDecoder&) = delete;
  VideoDecoder& operator=(const VideoDecoder&) = delete;

  /// The frame whose presentation time is nearest to `seconds`, in memory of `pool`. Seeks to the key frame before it
  /// and decodes from there, or goes on from where the last call stopped when that is less work.
  VideoFrame nearest(double seconds, BufferPool& pool);
  VideoFrame nearest(double seconds);
  /// Packets put into the codec so far: the work that the calls took.
  std::int64_t packets() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Loads FFmpeg's libraries, which every decoder of videos and images needs. Throws Error(kData) naming the one that is
/// not there.
void load_ffmpeg();

/// The header alone, without a decoder: missing, truncated and unreadable files are errors.
VideoInfo probe_video(const std::filesystem::path& root, const std::string& relative_path);

}  // namespace lerobot::data
