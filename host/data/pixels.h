#pragma once

// Private to the sources that use FFmpeg.

#include <string>
#include <vector>

#include "host/data/buffer.h"
#include "host/data/buffer_pool.h"
#include "host/data/ffmpeg.h"

namespace lerobot::data {

/// Turns decoded frames into arrays. Keeps its conversion context between frames; for one thread at a time.
class PixelConverter {
 public:
  /// (3, H, W) uint8 through swscale's bilinear YUV to rgb24, with the frame's own colour space and range: the numbers
  /// that torchcodec and PyAV give. The array is the pool's.
  Buffer to_rgb(const AVFrame& frame, const std::string& source, BufferPool& pool);

 private:
  /// The context for the frame: that of the frame before, where they are alike.
  SwsContext* context_for(const AVFrame& frame, const std::string& source);

  /// What a conversion context was made for.
  struct Setup {
    int width = 0, height = 0, format = AV_PIX_FMT_NONE, colorspace = 0;
    bool full_range = false;
    bool operator==(const Setup&) const = default;
  };

  FfmpegPtr<SwsContext> context_;
  Setup setup_;
  std::vector<std::uint8_t> interleaved_;
};

}  // namespace lerobot::data
