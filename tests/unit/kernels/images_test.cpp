#include "host/kernels/images.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace lerobot::kernels {
namespace {

constexpr std::int64_t kImages = 2, kChannels = 5, kPixels = 19;

/// Where element (image, channel, pixel) lies.
std::int64_t place(bool channels_last, std::int64_t image, std::int64_t channel, std::int64_t pixel) {
  return channels_last ? (image * kPixels + pixel) * kChannels + channel
                       : (image * kChannels + channel) * kPixels + pixel;
}

FeatureMap whole(bool channels_last) {
  return {.begin = 0,
          .end = kImages * (channels_last ? kPixels : kChannels),
          .channels = kChannels,
          .length = channels_last ? 1 : kPixels};
}

std::vector<float> wave(double frequency) {
  std::vector<float> values(kImages * kChannels * kPixels);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(frequency * static_cast<double>(i)));
  return values;
}

const std::vector<float> kScale{1.5F, -0.5F, 2.0F, 0.0F, 1.0F}, kShift{0.1F, 0.2F, -0.3F, 0.4F, -0.5F};

TEST(ScaleRelu, IsTheSameInBothLayoutsWithAndWithoutAResidual) {
  const std::vector<float> x = wave(0.7), residual = wave(1.3), gradient = wave(2.9);
  for (const bool channels_last : {false, true}) {
    for (const bool with_residual : {false, true}) {
      std::vector<float> y(x.size()), x_gradient(x.size()), residual_gradient(x.size(), -9);
      scale_relu(x.data(), kScale.data(), kShift.data(), with_residual ? residual.data() : nullptr, y.data(),
                 whole(channels_last));
      scale_relu_backward(gradient.data(), y.data(), kScale.data(), x_gradient.data(),
                          with_residual ? residual_gradient.data() : nullptr, whole(channels_last));
      for (std::int64_t n = 0; n < kImages; ++n) {
        for (std::int64_t c = 0; c < kChannels; ++c) {
          for (std::int64_t p = 0; p < kPixels; ++p) {
            const std::int64_t at = place(channels_last, n, c, p);
            const float value = x[at] * kScale[c] + kShift[c] + (with_residual ? residual[at] : 0.0F);
            EXPECT_FLOAT_EQ(y[at], std::max(value, 0.0F));
            const float passed = value > 0 ? gradient[at] : 0.0F;
            EXPECT_FLOAT_EQ(x_gradient[at], passed * kScale[c]);
            EXPECT_EQ(residual_gradient[at], with_residual ? passed : -9.0F);
          }
        }
      }
    }
  }
}

TEST(ScaleRelu, LetsThroughWhatIsNotANumber) {
  for (const bool channels_last : {false, true}) {
    std::vector<float> x = wave(0.7);
    x[33] = std::numeric_limits<float>::quiet_NaN();
    scale_relu(x.data(), kScale.data(), kShift.data(), nullptr, x.data(), whole(channels_last));
    EXPECT_TRUE(std::isnan(x[33]));
  }
}

}  // namespace
}  // namespace lerobot::kernels
