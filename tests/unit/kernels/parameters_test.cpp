#include "host/kernels/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace lerobot::kernels {
namespace {

constexpr std::int64_t kCount = 37;  // not a multiple of any vector's width

std::vector<float> random(unsigned seed, double low = -1, double high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(static_cast<float>(low), static_cast<float>(high));
  std::vector<float> values(kCount);
  for (float& value : values) value = distribution(generator);
  return values;
}

/// Kingma and Ba's algorithm 1 as it is written, in double precision; decay as `decoupled` says.
struct Element {
  double parameter, m, v;

  void step(double gradient, const AdamStep& s) {
    gradient *= s.gradient_factor;
    if (!s.decoupled) gradient += s.weight_decay * parameter;
    m = s.beta1 * m + (1 - s.beta1) * gradient;
    v = s.beta2 * v + (1 - s.beta2) * gradient * gradient;
    const double m_hat = m / (1 - std::pow(s.beta1, s.step)), v_hat = v / (1 - std::pow(s.beta2, s.step));
    const double decay = s.decoupled ? s.lr * s.weight_decay * parameter : 0;
    parameter -= decay + s.lr * m_hat / (std::sqrt(v_hat) + s.eps);
  }
};

TEST(Adam, FollowsTheAlgorithmWithEitherDecayAndAClippingFactor) {
  for (const bool decoupled : {true, false}) {
    for (const double factor : {1.0, 0.25}) {
      std::vector<float> parameter = random(1), exp_avg(kCount), exp_avg_sq(kCount);
      std::vector<Element> exact;
      for (const float value : parameter) exact.push_back({value, 0, 0});
      for (int n = 1; n <= 5; ++n) {
        const std::vector<float> gradient = random(10 + n);
        const AdamStep step{.beta1 = 0.9,
                            .beta2 = 0.999,
                            .eps = 1e-8,
                            .lr = 1e-2,
                            .weight_decay = 0.1,
                            .decoupled = decoupled,
                            .step = static_cast<double>(n),
                            .gradient_factor = factor};
        adam(parameter.data(), gradient.data(), exp_avg.data(), exp_avg_sq.data(), kCount, step);
        for (std::int64_t i = 0; i < kCount; ++i) exact[i].step(gradient[i], step);
      }
      for (std::int64_t i = 0; i < kCount; ++i) {
        EXPECT_NEAR(parameter[i], exact[i].parameter, 1e-6) << i;
        EXPECT_NEAR(exp_avg[i], exact[i].m, 1e-7) << i;
        EXPECT_NEAR(exp_avg_sq[i], exact[i].v, 1e-7) << i;
      }
    }
  }
}

TEST(SumOfSquares, IsExactInDoublePrecisionAndShowsWhatIsNotFinite) {
  std::vector<float> values(100001, 1e-3F);
  const double square = static_cast<double>(1e-3F) * 1e-3F;
  EXPECT_NEAR(sum_of_squares(values.data(), 100001), 100001 * square, 1e-10);
  values[77777] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(sum_of_squares(values.data(), 100001)));
  EXPECT_EQ(sum_of_squares(values.data(), 0), 0);
}

TEST(MoveAverage, HasTheBitsOfSeparateOperations) {
  std::vector<float> average = random(3);
  const std::vector<float> before = average, x = random(4);
  move_average(average.data(), x.data(), 0.3F, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    volatile float difference = before[i] - x[i];
    volatile float part = difference * 0.3F;
    EXPECT_EQ(average[i], before[i] - part) << i;
  }
}

}  // namespace
}  // namespace lerobot::kernels
