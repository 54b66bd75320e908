#include "host/kernels/images.h"

#include "host/base/clones.h"

namespace lerobot::kernels {
namespace {

/// Null stays null.
template <class Float>
Float* moved(Float* pointer, std::int64_t by) {
  return pointer == nullptr ? nullptr : pointer + by;
}

/// One channel.
LEROBOT_CLONES void scale_relu_run(const float* x, float scale, float shift, const float* residual, float* y,
                                   std::int64_t length) {
  if (residual == nullptr) {
    for (std::int64_t i = 0; i < length; ++i) {
      const float v = x[i] * scale + shift;
      y[i] = v < 0 ? 0.0F : v;
    }
  } else {
    for (std::int64_t i = 0; i < length; ++i) {
      const float v = x[i] * scale + shift + residual[i];
      y[i] = v < 0 ? 0.0F : v;
    }
  }
}

/// The channels of one pixel.
LEROBOT_CLONES void scale_relu_pixels(const float* x, const float* scale, const float* shift, const float* residual,
                                      float* y, std::int64_t pixels, std::int64_t channels) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    const std::int64_t at = p * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float v = x[at + c] * scale[c] + shift[c] + (residual == nullptr ? 0.0F : residual[at + c]);
      y[at + c] = v < 0 ? 0.0F : v;
    }
  }
}

LEROBOT_CLONES void backward_run(const float* gradient, const float* y, float scale, float* x_gradient,
                                 float* residual_gradient, std::int64_t length) {
  if (residual_gradient == nullptr) {
    for (std::int64_t i = 0; i < length; ++i) x_gradient[i] = y[i] <= 0 ? 0.0F : gradient[i] * scale;
  } else {
    for (std::int64_t i = 0; i < length; ++i) {
      const float g = y[i] <= 0 ? 0.0F : gradient[i];
      residual_gradient[i] = g;
      x_gradient[i] = g * scale;
    }
  }
}

LEROBOT_CLONES void backward_pixels(const float* gradient, const float* y, const float* scale, float* x_gradient,
                                    float* residual_gradient, std::int64_t pixels, std::int64_t channels) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    const std::int64_t at = p * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float g = y[at + c] <= 0 ? 0.0F : gradient[at + c];
      if (residual_gradient != nullptr) residual_gradient[at + c] = g;
      x_gradient[at + c] = g * scale[c];
    }
  }
}

}  // namespace

void scale_relu(const float* x, const float* scale, const float* shift, const float* residual, float* y,
                const FeatureMap& map) {
  if (map.length == 1) {
    const std::int64_t at = map.begin * map.channels;
    scale_relu_pixels(x + at, scale, shift, moved(residual, at), y + at, map.end - map.begin, map.channels);
    return;
  }
  for (std::int64_t run = map.begin; run < map.end; ++run) {
    const std::int64_t channel = run % map.channels, at = run * map.length;
    scale_relu_run(x + at, scale[channel], shift[channel], moved(residual, at), y + at, map.length);
  }
}

void scale_relu_backward(const float* gradient, const float* y, const float* scale, float* x_gradient,
                         float* residual_gradient, const FeatureMap& map) {
  if (map.length == 1) {
    const std::int64_t at = map.begin * map.channels;
    backward_pixels(gradient + at, y + at, scale, x_gradient + at, moved(residual_gradient, at), map.end - map.begin,
                    map.channels);
    return;
  }
  for (std::int64_t run = map.begin; run < map.end; ++run) {
    const std::int64_t at = run * map.length;
    backward_run(gradient + at, y + at, scale[run % map.channels], x_gradient + at, moved(residual_gradient, at),
                 map.length);
  }
}

}  // namespace lerobot::kernels
