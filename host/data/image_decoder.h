#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/data/buffer.h"

namespace lerobot::data {

/// Decodes a PNG or JPEG file's bytes: 8 bits per channel give uint8 (C, H, W) with C 1, 3 or 4 as stored; 16-bit grey
/// gives float32 (1, H, W), the values as stored. JPEG may differ from other decoders by a few levels: the standard
/// leaves rounding and chroma upsampling open. Throws Error(kData) naming `source` for anything else.
Buffer decode_image(const std::vector<std::byte>& file, const std::string& source);

}  // namespace lerobot::data
