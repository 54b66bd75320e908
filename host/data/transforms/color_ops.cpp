// Loops over pixels in the order and precision of torch's operators. Sums of two products are fused where torch's are,
// and nowhere else: this source is compiled without contraction.

#include <algorithm>
#include <cmath>

#include "host/base/clones.h"
#include "host/data/transforms/image_ops.h"

namespace lerobot::data {
namespace {

constexpr float kRed = 0.2989F, kGreen = 0.587F, kBlue = 0.114F;

/// How a type of pixel is read as a number and written back: bytes are cut off, not rounded.
template <class T>
struct Pixel;
template <>
struct Pixel<std::uint8_t> {
  static constexpr bool kIsByte = true;
  static constexpr float kBound = 255.0F;
  static LEROBOT_INLINE std::uint8_t store(float value) {
    return static_cast<std::uint8_t>(static_cast<std::int32_t>(value));
  }
  /// Grey values of bytes are whole numbers.
  static LEROBOT_INLINE float grey(float value) { return std::floor(value); }
  static LEROBOT_INLINE float to_unit(std::uint8_t value) { return static_cast<float>(value) * (1.0F / 255.0F); }
  static LEROBOT_INLINE std::uint8_t from_unit(float value) { return store(value * 255.999F); }
};
template <>
struct Pixel<float> {
  static constexpr bool kIsByte = false;
  static constexpr float kBound = 1.0F;
  static LEROBOT_INLINE float store(float value) { return value; }
  static LEROBOT_INLINE float grey(float value) { return value; }
  static LEROBOT_INLINE float to_unit(float value) { return value; }
  static LEROBOT_INLINE float from_unit(float value) { return value; }
};

template <class T>
LEROBOT_INLINE T stored_clamped(float value) {
  return Pixel<T>::store(std::min(std::max(value, 0.0F), Pixel<T>::kBound));
}

template <class T>
LEROBOT_INLINE float grey(T red, T green, T blue) {
  const float sum = std::fma(static_cast<float>(green), kGreen, static_cast<float>(red) * kRed);
  return Pixel<T>::grey(std::fma(static_cast<float>(blue), kBlue, sum));
}

/// x * factor + other * (1 - factor)
template <class T>
LEROBOT_INLINE T blended(T x, float other, float factor, float rest) {
  return stored_clamped<T>(std::fma(other, rest, static_cast<float>(x) * factor));
}

float rest_of(float factor) {
  return static_cast<float>(1.0 - static_cast<double>(factor));
}

template <class T>
LEROBOT_INLINE void scale(T* x, std::int64_t n, float factor) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = stored_clamped<T>(static_cast<float>(x[i]) * factor);
}
LEROBOT_CLONES void scale_run(std::uint8_t* x, std::int64_t n, float factor) {
  scale(x, n, factor);
}
LEROBOT_CLONES void scale_run(float* x, std::int64_t n, float factor) {
  scale(x, n, factor);
}

template <class T>
LEROBOT_INLINE void blend(T* x, std::int64_t n, float other, float factor, float rest) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = blended(x[i], other, factor, rest);
}
LEROBOT_CLONES void blend_run(std::uint8_t* x, std::int64_t n, float other, float factor, float rest) {
  blend(x, n, other, factor, rest);
}
LEROBOT_CLONES void blend_run(float* x, std::int64_t n, float other, float factor, float rest) {
  blend(x, n, other, factor, rest);
}

template <class T>
LEROBOT_INLINE void blend_grey(T* __restrict red, T* __restrict green, T* __restrict blue, std::int64_t n, float factor,
                               float rest) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float own_grey = grey(red[i], green[i], blue[i]);
    red[i] = blended(red[i], own_grey, factor, rest);
    green[i] = blended(green[i], own_grey, factor, rest);
    blue[i] = blended(blue[i], own_grey, factor, rest);
  }
}
LEROBOT_CLONES void blend_grey_run(std::uint8_t* x, std::int64_t n, float factor, float rest) {
  blend_grey(x, x + n, x + 2 * n, n, factor, rest);
}
LEROBOT_CLONES void blend_grey_run(float* x, std::int64_t n, float factor, float rest) {
  blend_grey(x, x + n, x + 2 * n, n, factor, rest);
}

/// Partial sums side by side, so that the loop over them becomes vectors.
constexpr std::int64_t kLanes = 16;
/// Values added up in float32 before they go into the double.
constexpr std::int64_t kBlock = 64 * kLanes;

template <class Value>
LEROBOT_INLINE double sum_of(std::int64_t n, const Value& value) {
  double sum = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, n);
    float lanes[kLanes] = {};
    std::int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += value(i + lane);
    }
    for (; i < end; ++i) lanes[0] += value(i);
    for (const float lane : lanes) sum += static_cast<double>(lane);
  }
  return sum;
}
LEROBOT_CLONES double grey_sum(const std::uint8_t* x, std::int64_t n) {
  return sum_of(n, [=](std::int64_t i) { return grey(x[i], x[n + i], x[2 * n + i]); });
}
LEROBOT_CLONES double grey_sum(const float* x, std::int64_t n) {
  return sum_of(n, [=](std::int64_t i) { return grey(x[i], x[n + i], x[2 * n + i]); });
}
LEROBOT_CLONES double plain_sum(const std::uint8_t* x, std::int64_t n) {
  return sum_of(n, [=](std::int64_t i) { return static_cast<float>(x[i]); });
}
LEROBOT_CLONES double plain_sum(const float* x, std::int64_t n) {
  return sum_of(n, [=](std::int64_t i) { return x[i]; });
}

struct Rgb {
  float red, green, blue;
};

/// A choice of two computed values: written out in place, nested choices become branches, and the loop no vectors.
LEROBOT_INLINE float pick(bool first, float a, float b) {
  return first ? a : b;
}

/// The hue turned by `shift`, through HSV. All values in [0, 1].
LEROBOT_INLINE Rgb turned(const Rgb& in, float shift) {
  const float high = std::max(std::max(in.red, in.green), in.blue);
  const float low = std::min(std::min(in.red, in.green), in.blue);
  const float range = high - low;
  const bool is_grey = high == low;
  const float saturation = range / pick(is_grey, 1.0F, high);
  const float divisor = pick(is_grey, 1.0F, range);
  const float red = (high - in.red) / divisor, green = (high - in.green) / divisor, blue = (high - in.blue) / divisor;
  const float of_red = blue - green;
  const float of_green = red + 2.0F - blue;
  const float of_blue = green + 4.0F - red;
  const float sixths = pick(high == in.red, of_red, pick(high == in.green, of_green, of_blue));
  float hue = sixths * (1.0F / 6.0F) + 1.0F;
  hue -= std::floor(hue);
  hue += shift;
  hue -= std::floor(hue);

  const float six = hue * 6.0F;
  const float whole = std::floor(six);
  const float sxf = saturation * (six - whole);
  const float one_minus_s = 1.0F - saturation;
  const float q = std::min(std::max((1.0F - sxf) * high, 0.0F), 1.0F);
  const float t = std::min(std::max((sxf + one_minus_s) * high, 0.0F), 1.0F);
  const float p = std::min(std::max(one_minus_s * high, 0.0F), 1.0F);
  // hue may be rounded up to 1, whose sector is the first one again.
  const float s = pick(whole >= 6.0F, 0.0F, whole);
  const float last_red = pick(s == 4.0F, t, high);
  return {.red = pick(s == 0.0F, high, pick(s == 1.0F, q, pick(s <= 3.0F, p, last_red))),
          .green = pick(s == 0.0F, t, pick(s <= 2.0F, high, pick(s == 3.0F, q, p))),
          .blue = pick(s <= 1.0F, p, pick(s == 2.0F, t, pick(s <= 4.0F, high, q)))};
}

template <class T>
LEROBOT_INLINE void turn(T* __restrict red, T* __restrict green, T* __restrict blue, std::int64_t n, float shift) {
  using P = Pixel<T>;
  for (std::int64_t i = 0; i < n; ++i) {
    const Rgb out = turned({P::to_unit(red[i]), P::to_unit(green[i]), P::to_unit(blue[i])}, shift);
    red[i] = P::from_unit(out.red);
    green[i] = P::from_unit(out.green);
    blue[i] = P::from_unit(out.blue);
  }
}
LEROBOT_CLONES void turn_run(std::uint8_t* x, std::int64_t n, float shift) {
  turn(x, x + n, x + 2 * n, n, shift);
}
LEROBOT_CLONES void turn_run(float* x, std::int64_t n, float shift) {
  turn(x, x + n, x + 2 * n, n, shift);
}

/// Calls `visit(first pixel)` for each frame, with the type that the pixels have.
template <class Visit>
void for_each_frame(const Images& images, const Visit& visit) {
  const std::int64_t pixels = images.channels * images.plane();
  for (std::int64_t frame = 0; frame < images.frames; ++frame) {
    if (images.dtype == DType::kUInt8) {
      visit(reinterpret_cast<std::uint8_t*>(images.data) + frame * pixels);
    } else {
      visit(reinterpret_cast<float*>(images.data) + frame * pixels);
    }
  }
}

}  // namespace

void change(const Brightness& op, const Images& images) {
  for_each_frame(images, [&](auto* x) { scale_run(x, images.channels * images.plane(), op.factor); });
}

void change(const Contrast& op, const Images& images) {
  const std::int64_t n = images.plane();
  for_each_frame(images, [&](auto* x) {
    const double sum = images.channels == 3 ? grey_sum(x, n) : plain_sum(x, n);
    const float mean = static_cast<float>(sum) / static_cast<float>(n);
    blend_run(x, images.channels * n, mean, op.factor, rest_of(op.factor));
  });
}

void change(const Saturation& op, const Images& images) {
  if (images.channels != 3) return;
  for_each_frame(images, [&](auto* x) { blend_grey_run(x, images.plane(), op.factor, rest_of(op.factor)); });
}

void change(const Hue& op, const Images& images) {
  if (images.channels != 3) return;
  for_each_frame(images, [&](auto* x) { turn_run(x, images.plane(), op.shift); });
}

void apply(const ImageOp& op, const Images& images) {
  std::visit([&](const auto& one) { change(one, images); }, op);
}

}  // namespace lerobot::data
