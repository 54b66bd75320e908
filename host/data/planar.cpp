#include "host/data/planar.h"

#include "host/base/clones.h"

namespace lerobot::data {
namespace {

/// One row of interleaved RGB into three rows. Without aliasing the compiler turns it into shuffles of whole vectors.
LEROBOT_CLONES void split_rgb_row(const std::uint8_t* __restrict in, int width, std::uint8_t* __restrict red,
                                  std::uint8_t* __restrict green, std::uint8_t* __restrict blue) {
  for (int x = 0; x < width; ++x) {
    red[x] = in[3 * x];
    green[x] = in[3 * x + 1];
    blue[x] = in[3 * x + 2];
  }
}

}  // namespace

void split_rgb(const std::uint8_t* rows, int stride, int height, int width, std::uint8_t* out) {
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(height) * width;
  for (int y = 0; y < height; ++y, rows += stride, out += width) {
    split_rgb_row(rows, width, out, out + plane, out + 2 * plane);
  }
}

Buffer planar(const std::uint8_t* rows, int stride, int height, int width, int channels) {
  Buffer result = make_buffer(DType::kUInt8, {channels, height, width});
  auto* out = elements_of<std::uint8_t>(result);
  if (channels == 3) {
    split_rgb(rows, stride, height, width, out);
    return result;
  }
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      const std::uint8_t* in = rows + static_cast<std::ptrdiff_t>(y) * stride + c;
      for (int x = 0; x < width; ++x, in += channels) *out++ = *in;
    }
  }
  return result;
}

}  // namespace lerobot::data
