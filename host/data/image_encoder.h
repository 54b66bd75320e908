#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lerobot::data {

/// A picture of 8-bit RGB pixels, row after row.
struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

/// The bytes of a PNG file. Throws Error(kInternal) when FFmpeg cannot make one.
std::string encode_png(const Picture& picture);

}  // namespace lerobot::data
