#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/data/buffer.h"

namespace lerobot::data {

/// A picture of 8-bit RGB pixels, row after row.
struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

/// The bytes of a PNG file. Throws Error(kInternal).
std::string encode_png(const Picture& picture);

/// The pixels of a PNG file's bytes as stored, without any correction of colours: uint8 (C, H, W) with C 1, 3 or 4;
/// 16-bit grey gives float32 (1, H, W). Throws Error(kData) naming `source`, also for other kinds of pixels.
Buffer decode_png(const std::vector<std::byte>& file, const std::string& source);

}  // namespace lerobot::data
