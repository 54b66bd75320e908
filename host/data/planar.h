#pragma once

#include <cstdint>

#include "host/data/buffer.h"

namespace lerobot::data {

/// (3, height, width) at `out`, out of interleaved RGB in rows of `stride` bytes.
void split_rgb(const std::uint8_t* rows, int stride, int height, int width, std::uint8_t* out);

/// (channels, height, width) out of interleaved rows of `stride` bytes.
Buffer planar(const std::uint8_t* rows, int stride, int height, int width, int channels);

}  // namespace lerobot::data
