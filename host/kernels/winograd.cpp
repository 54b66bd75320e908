#include "host/kernels/winograd.h"

#include <array>
#include <vector>

#include "host/base/clones.h"

namespace lerobot::kernels {
namespace {

template <std::int64_t kSide>
using Patch = std::array<const float*, kSide * kSide>;

/// Calls body(tile, image, y, x) with the upper left pixel of each tile.
template <class Body>
void for_tiles(const TiledMap& shape, std::int64_t begin, std::int64_t end, const Body& body) {
  for (std::int64_t tile = begin; tile < end; ++tile) {
    const std::int64_t image = tile / shape.tiles_in_image(), inside = tile % shape.tiles_in_image();
    body(tile, image, inside / shape.tiles_in_row() * 2, inside % shape.tiles_in_row() * 2);
  }
}

/// The pixels of a square whose upper left one is (y, x); `outside` for those beyond the edge.
template <std::int64_t kSide, class Float>
std::array<Float*, kSide * kSide> patch(Float* map, const TiledMap& shape, std::int64_t image, std::int64_t y,
                                        std::int64_t x, Float* outside) {
  std::array<Float*, kSide * kSide> pixels;
  for (std::int64_t r = 0; r < kSide; ++r) {
    for (std::int64_t c = 0; c < kSide; ++c) {
      const bool inside = y + r >= 0 && y + r < shape.height && x + c >= 0 && x + c < shape.width;
      pixels[r * kSide + c] =
          inside ? map + ((image * shape.height + y + r) * shape.width + x + c) * shape.channels : outside;
    }
  }
  return pixels;
}

LEROBOT_CLONES void input_tile(const Patch<4>& pixels, float* __restrict v, std::int64_t plane, std::int64_t channels) {
  const float *p0 = pixels[0], *p1 = pixels[1], *p2 = pixels[2], *p3 = pixels[3], *p4 = pixels[4], *p5 = pixels[5],
              *p6 = pixels[6], *p7 = pixels[7], *p8 = pixels[8], *p9 = pixels[9], *p10 = pixels[10], *p11 = pixels[11],
              *p12 = pixels[12], *p13 = pixels[13], *p14 = pixels[14], *p15 = pixels[15];
  LEROBOT_INDEPENDENT_TURNS
  for (std::int64_t c = 0; c < channels; ++c) {
    // Down the columns of the patch, then along the rows.
    const float a0 = p0[c] - p8[c], a1 = p1[c] - p9[c], a2 = p2[c] - p10[c], a3 = p3[c] - p11[c];
    v[c] = a0 - a2;
    v[plane + c] = a1 + a2;
    v[2 * plane + c] = a2 - a1;
    v[3 * plane + c] = a1 - a3;
    const float b0 = p4[c] + p8[c], b1 = p5[c] + p9[c], b2 = p6[c] + p10[c], b3 = p7[c] + p11[c];
    v[4 * plane + c] = b0 - b2;
    v[5 * plane + c] = b1 + b2;
    v[6 * plane + c] = b2 - b1;
    v[7 * plane + c] = b1 - b3;
    const float c0 = p8[c] - p4[c], c1 = p9[c] - p5[c], c2 = p10[c] - p6[c], c3 = p11[c] - p7[c];
    v[8 * plane + c] = c0 - c2;
    v[9 * plane + c] = c1 + c2;
    v[10 * plane + c] = c2 - c1;
    v[11 * plane + c] = c1 - c3;
    const float d0 = p4[c] - p12[c], d1 = p5[c] - p13[c], d2 = p6[c] - p14[c], d3 = p7[c] - p15[c];
    v[12 * plane + c] = d0 - d2;
    v[13 * plane + c] = d1 + d2;
    v[14 * plane + c] = d2 - d1;
    v[15 * plane + c] = d1 - d3;
  }
}

LEROBOT_CLONES void output_tile(const float* __restrict m, std::int64_t plane, const std::array<float*, 4>& pixels,
                                std::int64_t channels) {
  float *p0 = pixels[0], *p1 = pixels[1], *p2 = pixels[2], *p3 = pixels[3];
  LEROBOT_INDEPENDENT_TURNS
  for (std::int64_t c = 0; c < channels; ++c) {
    // Down the columns of the planes, then along the rows.
    const float *n = m + c, *o = n + 4 * plane, *p = o + 4 * plane, *q = p + 4 * plane;
    const float a0 = n[0] + o[0] + p[0], b0 = o[0] - p[0] - q[0];
    const float a1 = n[plane] + o[plane] + p[plane], b1 = o[plane] - p[plane] - q[plane];
    const float a2 = n[2 * plane] + o[2 * plane] + p[2 * plane], b2 = o[2 * plane] - p[2 * plane] - q[2 * plane];
    const float a3 = n[3 * plane] + o[3 * plane] + p[3 * plane], b3 = o[3 * plane] - p[3 * plane] - q[3 * plane];
    p0[c] = a0 + a1 + a2;
    p1[c] = a1 - a2 - a3;
    p2[c] = b0 + b1 + b2;
    p3[c] = b1 - b2 - b3;
  }
}

LEROBOT_CLONES void output_gradient_tile(const Patch<2>& pixels, float* __restrict m, std::int64_t plane,
                                         std::int64_t channels) {
  const float *p0 = pixels[0], *p1 = pixels[1], *p2 = pixels[2], *p3 = pixels[3];
  LEROBOT_INDEPENDENT_TURNS
  for (std::int64_t c = 0; c < channels; ++c) {
    const float y0 = p0[c], y1 = p1[c], y2 = p2[c], y3 = p3[c];
    m[c] = y0;
    m[plane + c] = y0 + y1;
    m[2 * plane + c] = y0 - y1;
    m[3 * plane + c] = -y1;
    const float s0 = y0 + y2, s1 = y1 + y3;
    m[4 * plane + c] = s0;
    m[5 * plane + c] = s0 + s1;
    m[6 * plane + c] = s0 - s1;
    m[7 * plane + c] = -s1;
    const float d0 = y0 - y2, d1 = y1 - y3;
    m[8 * plane + c] = d0;
    m[9 * plane + c] = d0 + d1;
    m[10 * plane + c] = d0 - d1;
    m[11 * plane + c] = -d1;
    m[12 * plane + c] = -y2;
    m[13 * plane + c] = -y2 - y3;
    m[14 * plane + c] = y3 - y2;
    m[15 * plane + c] = y3;
  }
}

float* place(const TilePlanes& planes, std::int64_t tile, const TiledMap& shape) {
  return planes.data + (tile - planes.first) * shape.channels;
}

}  // namespace

void winograd_input(const float* map, const TiledMap& shape, std::int64_t begin, std::int64_t end,
                    const TilePlanes& planes) {
  const std::vector<float> zeros(shape.channels);
  for_tiles(shape, begin, end, [&](std::int64_t tile, std::int64_t image, std::int64_t y, std::int64_t x) {
    input_tile(patch<4>(map, shape, image, y - 1, x - 1, zeros.data()), place(planes, tile, shape), planes.plane,
               shape.channels);
  });
}

void winograd_output(const TilePlanes& planes, const TiledMap& shape, std::int64_t begin, std::int64_t end,
                     float* map) {
  std::vector<float> nowhere(shape.channels);
  for_tiles(shape, begin, end, [&](std::int64_t tile, std::int64_t image, std::int64_t y, std::int64_t x) {
    output_tile(place(planes, tile, shape), planes.plane, patch<2>(map, shape, image, y, x, nowhere.data()),
                shape.channels);
  });
}

void winograd_output_gradient(const float* map, const TiledMap& shape, std::int64_t begin, std::int64_t end,
                              const TilePlanes& planes) {
  const std::vector<float> zeros(shape.channels);
  for_tiles(shape, begin, end, [&](std::int64_t tile, std::int64_t image, std::int64_t y, std::int64_t x) {
    output_gradient_tile(patch<2>(map, shape, image, y, x, zeros.data()), place(planes, tile, shape), planes.plane,
                         shape.channels);
  });
}

LEROBOT_CLONES void winograd_weights(const float* __restrict weights, std::int64_t pairs, std::int64_t begin,
                                     std::int64_t end, float* __restrict planes) {
  LEROBOT_INDEPENDENT_TURNS
  for (std::int64_t pair = begin; pair < end; ++pair) {
    const float* w = weights + 9 * pair;
    float* p = planes + pair;
    const auto row = [&](std::int64_t plane, float a, float b, float c) {
      const float ends = 0.5F * (a + c), middle = 0.5F * b;
      p[plane * pairs] = a;
      p[(plane + 1) * pairs] = ends + middle;
      p[(plane + 2) * pairs] = ends - middle;
      p[(plane + 3) * pairs] = c;
    };
    const float e0 = 0.5F * (w[0] + w[6]), e1 = 0.5F * (w[1] + w[7]), e2 = 0.5F * (w[2] + w[8]);
    const float m0 = 0.5F * w[3], m1 = 0.5F * w[4], m2 = 0.5F * w[5];
    row(0, w[0], w[1], w[2]);
    row(4, e0 + m0, e1 + m1, e2 + m2);
    row(8, e0 - m0, e1 - m1, e2 - m2);
    row(12, w[6], w[7], w[8]);
  }
}

LEROBOT_CLONES void winograd_weights_gradient(const float* __restrict planes, std::int64_t pairs, std::int64_t begin,
                                              std::int64_t end, float* __restrict weights) {
  LEROBOT_INDEPENDENT_TURNS
  for (std::int64_t pair = begin; pair < end; ++pair) {
    const float* p = planes + pair;
    float* w = weights + 9 * pair;
    const auto put = [&](std::int64_t at, float a, float b, float c, float d) {
      w[at] = a + 0.5F * (b + c);
      w[at + 1] = 0.5F * (b - c);
      w[at + 2] = d + 0.5F * (b + c);
    };
    const auto top = [&](std::int64_t i) { return p[i * pairs] + 0.5F * (p[(4 + i) * pairs] + p[(8 + i) * pairs]); };
    const auto middle = [&](std::int64_t i) { return 0.5F * (p[(4 + i) * pairs] - p[(8 + i) * pairs]); };
    const auto bottom = [&](std::int64_t i) {
      return p[(12 + i) * pairs] + 0.5F * (p[(4 + i) * pairs] + p[(8 + i) * pairs]);
    };
    put(0, top(0), top(1), top(2), top(3));
    put(3, middle(0), middle(1), middle(2), middle(3));
    put(6, bottom(0), bottom(1), bottom(2), bottom(3));
  }
}

}  // namespace lerobot::kernels
