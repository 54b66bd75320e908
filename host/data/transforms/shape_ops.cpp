// Operations that read other pixels than the one they write. Compiled without contraction, as color_ops.cpp.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "host/base/clones.h"
#include "host/data/transforms/image_ops.h"

namespace lerobot::data {
namespace {

/// A copy of a plane that lives until the next call in the same thread.
template <class T>
const T* copied(const T* plane, std::int64_t n) {
  thread_local std::vector<T> copy;
  copy.assign(plane, plane + n);
  return copy.data();
}

/// Calls `visit(plane)` for each channel of each frame, with the type that the pixels have.
template <class Visit>
void for_each_plane(const Images& images, const Visit& visit) {
  for (std::int64_t i = 0; i < images.planes(); ++i) {
    if (images.dtype == DType::kUInt8) {
      visit(reinterpret_cast<std::uint8_t*>(images.data) + i * images.plane());
    } else {
      visit(reinterpret_cast<float*>(images.data) + i * images.plane());
    }
  }
}

/// The mean of 13 values, the centre counted five times, to the nearest whole number. It is never halfway.
LEROBOT_INLINE float blurred(const std::uint8_t* above, const std::uint8_t* x, const std::uint8_t* below,
                             std::int64_t i) {
  const auto three = [i](const std::uint8_t* row) {
    return static_cast<std::uint16_t>(row[i - 1] + row[i] + row[i + 1]);
  };
  const auto sum = static_cast<std::uint16_t>(three(above) + three(x) + three(below) + 4 * x[i]);
  return static_cast<float>(static_cast<std::uint16_t>(static_cast<std::uint16_t>(2 * sum + 13) / 26));
}
LEROBOT_INLINE float blurred(const float* above, const float* x, const float* below, std::int64_t i) {
  constexpr float kSide = 1.0F / 13.0F, kCentre = 5.0F / 13.0F;
  const auto three = [i](const float* row) { return row[i - 1] + row[i] + row[i + 1]; };
  return kSide * (three(above) + three(below) + x[i - 1] + x[i + 1]) + kCentre * x[i];
}

template <class T>
LEROBOT_INLINE void sharpen(const T* above, const T* x, const T* below, std::int64_t width, float rest,
                            T* __restrict out) {
  constexpr float kBound = sizeof(T) == 1 ? 255.0F : 1.0F;
  for (std::int64_t i = 1; i + 1 < width; ++i) {
    const auto own = static_cast<float>(x[i]);
    const float value = std::fma(blurred(above, x, below, i) - own, rest, own);
    const float inside = std::min(std::max(value, 0.0F), kBound);
    if constexpr (sizeof(T) == 1) {
      out[i] = static_cast<T>(static_cast<std::int32_t>(inside));
    } else {
      out[i] = inside;
    }
  }
}
LEROBOT_CLONES void sharpen_row(const std::uint8_t* above, const std::uint8_t* x, const std::uint8_t* below,
                                std::int64_t width, float rest, std::uint8_t* out) {
  sharpen(above, x, below, width, rest, out);
}
LEROBOT_CLONES void sharpen_row(const float* above, const float* x, const float* below, std::int64_t width, float rest,
                                float* out) {
  sharpen(above, x, below, width, rest, out);
}

/// From a pixel's place, relative to the centre, to the place that it is taken from, in halves of the image.
struct Inverse {
  float xx, xy, x0, yx, yy, y0;
};

Inverse inverse_of(const Affine& op, std::int64_t height, std::int64_t width) {
  const double radians = std::numbers::pi / 180;
  const double turn = op.degrees * radians, shear_x = op.shear_x * radians, shear_y = op.shear_y * radians;
  const double a = std::cos(turn - shear_y) / std::cos(shear_y);
  const double b = -(a * std::tan(shear_x) + std::sin(turn));
  const double c = std::sin(turn - shear_y) / std::cos(shear_y);
  const double d = std::cos(turn) - c * std::tan(shear_x);
  const auto dx = static_cast<double>(op.dx), dy = static_cast<double>(op.dy);
  const double xx = d / op.scale, xy = -b / op.scale, yx = -c / op.scale, yy = a / op.scale;
  const float half_width = 0.5F * static_cast<float>(width), half_height = 0.5F * static_cast<float>(height);
  return {.xx = static_cast<float>(xx) / half_width,
          .xy = static_cast<float>(xy) / half_width,
          .x0 = static_cast<float>(-xx * dx - xy * dy) / half_width,
          .yx = static_cast<float>(yx) / half_height,
          .yy = static_cast<float>(yy) / half_height,
          .y0 = static_cast<float>(-yx * dx - yy * dy) / half_height};
}

/// For each pixel of a row the number of the pixel that it is taken from; -1 outside.
LEROBOT_CLONES void find_sources(const Inverse& inverse, std::int64_t row, std::int32_t height, std::int32_t width,
                                 std::int32_t* sources) {
  const float y = static_cast<float>(row) - static_cast<float>(height - 1) * 0.5F;
  const float half_width = static_cast<float>(width) * 0.5F, half_height = static_cast<float>(height) * 0.5F;
  const float first = -static_cast<float>(width - 1) * 0.5F;
  for (std::int32_t i = 0; i < width; ++i) {
    const float x = first + static_cast<float>(i);
    const float at_x = x * inverse.xx + y * inverse.xy + inverse.x0;
    const float at_y = x * inverse.yx + y * inverse.yy + inverse.y0;
    const float from_x = std::nearbyint((at_x + 1.0F) * half_width - 0.5F);
    const float from_y = std::nearbyint((at_y + 1.0F) * half_height - 0.5F);
    const bool inside =
        from_x >= 0.0F && from_x < static_cast<float>(width) && from_y >= 0.0F && from_y < static_cast<float>(height);
    // Places far outside do not fit an integer.
    const float near_x = inside ? from_x : 0.0F, near_y = inside ? from_y : 0.0F;
    const std::int32_t from = static_cast<std::int32_t>(near_y) * width + static_cast<std::int32_t>(near_x);
    sources[i] = inside ? from : -1;
  }
}

}  // namespace

void change(const Sharpness& op, const Images& images) {
  if (images.height <= 2 || images.width <= 2) return;
  const std::int64_t width = images.width;
  const auto rest = static_cast<float>(1.0 - static_cast<double>(op.factor));
  for_each_plane(images, [&](auto* plane) {
    const auto* before = copied(plane, images.plane());
    for (std::int64_t y = 1; y + 1 < images.height; ++y) {
      const auto* row = before + y * width;
      sharpen_row(row - width, row, row + width, width, rest, plane + y * width);
    }
  });
}

void change(const Affine& op, const Images& images) {
  const Inverse inverse = inverse_of(op, images.height, images.width);
  thread_local std::vector<std::int32_t> sources;
  sources.resize(static_cast<std::size_t>(images.plane()));
  for (std::int64_t y = 0; y < images.height; ++y) {
    find_sources(inverse, y, static_cast<std::int32_t>(images.height), static_cast<std::int32_t>(images.width),
                 sources.data() + y * images.width);
  }
  for_each_plane(images, [&](auto* plane) {
    using T = std::remove_reference_t<decltype(*plane)>;
    const auto fill = static_cast<T>(sizeof(T) == 1 ? std::nearbyint(op.fill) : op.fill);
    const T* before = copied(plane, images.plane());
    for (std::int64_t i = 0; i < images.plane(); ++i) {
      const std::int32_t from = sources[static_cast<std::size_t>(i)];
      plane[i] = from < 0 ? fill : before[from];
    }
  });
}

}  // namespace lerobot::data
