#include "host/kernels/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace lerobot::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random(std::int64_t count, unsigned seed, float scale = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(generator);
  return values;
}

std::vector<float> factors_of(const Dropout& dropout, const Rows& rows) {
  std::vector<float> all, row(padded_width(rows.width), 1.0F);
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    if (dropout.threshold > 0) dropout_factors(dropout, r, rows.width, row.data());
    all.insert(all.end(), row.begin(), row.begin() + rows.width);
  }
  return all;
}

TEST(Rows, AnyPartitionGivesTheSameBits) {
  const Rows rows{0, 12, 147};
  const Dropout dropout = make_dropout(5, 6, 0.3);
  const std::vector<float> x = random(12 * 147, 1);
  std::vector<float> whole(x.size()), parts(x.size());
  drop(x.data(), whole.data(), rows, dropout);
  for (std::int64_t r = 0; r < 12; r += 5)
    drop(x.data(), parts.data(), {r, std::min<std::int64_t>(r + 5, 12), 147}, dropout);
  EXPECT_EQ(whole, parts);
  const std::vector<float> factors = factors_of(dropout, rows);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(whole[i], x[i] * factors[i]);
}

TEST(BiasReluDrop, IsItsThreeStepsAndItsGradientNeedsNoMask) {
  const Rows rows{0, 7, 130};
  for (const double rate : {0.0, 0.4}) {
    const Dropout dropout = make_dropout(3, 1, rate);
    const std::vector<float> x = random(7 * 130, 2), bias = random(130, 3), factors = factors_of(dropout, rows);
    std::vector<float> y = x, gradient = random(7 * 130, 4), sums(130, 0.5F);
    const std::vector<float> incoming = gradient;
    bias_relu_drop(y.data(), bias.data(), rows, dropout);
    bias_relu_drop_backward(gradient.data(), y.data(), sums.data(), rows, dropout.scale);
    std::vector<double> expected_sums(130, 0.5);
    for (std::int64_t i = 0; i < 7 * 130; ++i) {
      const float before = x[i] + bias[i % 130];
      EXPECT_EQ(y[i], std::max(before, 0.0F) * factors[i]);
      const float expected = before > 0 ? incoming[i] * factors[i] : 0.0F;
      EXPECT_EQ(gradient[i], expected);
      expected_sums[i % 130] += expected;
    }
    for (int c = 0; c < 130; ++c) EXPECT_NEAR(sums[c], expected_sums[c], 1e-5);
  }
}

TEST(SoftmaxDrop, IsSoftmaxOfScaledAndMaskedScores) {
  for (const std::int64_t width : {1, 11, 16, 102}) {
    const Rows rows{0, 6, width};
    const Dropout dropout = make_dropout(8, 0, 0.2);
    const std::vector<float> scores = random(6 * width, 5, 20), factors = factors_of(dropout, rows);
    std::vector<float> mask(2 * width, 0.0F);
    if (width > 1) mask[1] = mask[width] = -kInfinity;
    std::vector<float> probabilities = scores, dropped(scores.size());
    softmax_drop(probabilities.data(), dropped.data(), 0.25F, mask.data(), /*rows_of_a_mask=*/3, rows, dropout);
    for (std::int64_t r = 0; r < 6; ++r) {
      double total = 0;
      std::vector<double> exact(width);
      for (std::int64_t i = 0; i < width; ++i)
        total += exact[i] = std::exp(0.25 * scores[r * width + i] + mask[r / 3 * width + i]);
      for (std::int64_t i = 0; i < width; ++i) {
        EXPECT_NEAR(probabilities[r * width + i], exact[i] / total, 3e-7) << width;
        EXPECT_EQ(dropped[r * width + i], probabilities[r * width + i] * factors[r * width + i]);
      }
    }
  }
}

TEST(SoftmaxDrop, HidesNothingThatIsNotANumber) {
  std::vector<float> scores{1, std::nanf(""), 3, -kInfinity, -kInfinity, -kInfinity}, dropped(6);
  softmax_drop(scores.data(), dropped.data(), 1, nullptr, 1, {0, 2, 3}, {});
  for (const float value : dropped) EXPECT_TRUE(std::isnan(value));
}

/// loss(x) = sum of weights * y(x): its derivative by one number, measured.
template <class Loss>
double slope(std::vector<float>& values, std::size_t i, const Loss& loss) {
  constexpr float kStep = 1e-2F;
  const float value = values[i];
  values[i] = value + kStep;
  const double above = loss();
  values[i] = value - kStep;
  const double below = loss();
  values[i] = value;
  return (above - below) / (2.0 * kStep);
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(SoftmaxDrop, HasTheGradientThatFiniteDifferencesShow) {
  const Rows rows{0, 3, 21};
  const Dropout dropout = make_dropout(4, 4, 0.3);
  std::vector<float> scores = random(63, 6), dropped(63), probabilities;
  const std::vector<float> gradient = random(63, 7);
  const auto loss = [&] {
    probabilities = scores;
    softmax_drop(probabilities.data(), dropped.data(), 0.5F, nullptr, 1, rows, dropout);
    return dot(dropped, gradient);
  };
  loss();
  std::vector<float> found(63);
  softmax_drop_backward(gradient.data(), probabilities.data(), found.data(), 0.5F, rows, dropout);
  for (std::size_t i = 0; i < 63; ++i) EXPECT_NEAR(found[i], slope(scores, i, loss), 2e-4) << i;
}

TEST(AddNorm, HasTheGradientsThatFiniteDifferencesShow) {
  const Rows rows{0, 4, 37};
  for (const bool with_bias : {true, false}) {
    const Dropout dropout = make_dropout(9, 2, 0.3);
    std::vector<float> skip = random(148, 8), x = random(148, 9), bias = random(37, 10), weight = random(37, 11),
                       shift = random(37, 12);
    const std::vector<float> gradient = random(148, 13);
    std::vector<float> sum(148), y(148), mean(4), deviation(4);
    const auto loss = [&] {
      add_norm(skip.data(), x.data(), with_bias ? bias.data() : nullptr, weight.data(), shift.data(), 1e-5F, sum.data(),
               y.data(), {mean.data(), deviation.data()}, rows, dropout);
      return dot(y, gradient);
    };
    loss();
    std::vector<float> of_skip(148), of_x(148), of_weight(37), of_shift(37), of_bias(37);
    add_norm_backward(gradient.data(), sum.data(), {mean.data(), deviation.data()}, weight.data(), of_skip.data(),
                      of_x.data(), of_weight.data(), of_shift.data(), with_bias ? of_bias.data() : nullptr, rows,
                      dropout);
    for (std::size_t i = 0; i < 148; ++i) {
      EXPECT_NEAR(of_skip[i], slope(skip, i, loss), 5e-3) << i;
      EXPECT_NEAR(of_x[i], slope(x, i, loss), 5e-3) << i;
    }
    for (std::size_t i = 0; i < 37; ++i) {
      EXPECT_NEAR(of_weight[i], slope(weight, i, loss), 5e-3) << i;
      EXPECT_NEAR(of_shift[i], slope(shift, i, loss), 5e-3) << i;
      EXPECT_NEAR(of_bias[i], with_bias ? slope(bias, i, loss) : 0, 1e-2) << i;
    }
  }
}

}  // namespace
}  // namespace lerobot::kernels
