#pragma once

// Private to the sources that use FFmpeg.

#include <string>

#include "host/data/buffer.h"
#include "host/data/ffmpeg.h"

namespace lerobot::data {

/// Turns decoded frames into arrays. Keeps its conversion context between frames; for one thread at a time.
class PixelConverter {
 public:
  /// (3, H, W) uint8 through swscale's bilinear YUV to rgb24, with the frame's own colour space and range: the numbers
  /// that torchcodec and PyAV give.
  Buffer to_rgb(const AVFrame& frame, const std::string& source);

 private:
  FfmpegPtr<SwsContext> context_;
};

/// (channels, H, W) out of interleaved rows of `stride` bytes.
Buffer planar(const std::uint8_t* rows, int stride, int height, int width, int channels);

}  // namespace lerobot::data
