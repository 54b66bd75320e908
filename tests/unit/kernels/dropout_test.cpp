#include "host/kernels/dropout.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace lerobot::kernels {
namespace {

constexpr std::int64_t kWidth = 1024, kRows = 1024;
constexpr double kElements = static_cast<double>(kWidth * kRows);

/// 1 where an element is kept, of kRows rows.
std::vector<float> kept(const Dropout& dropout) {
  std::vector<float> all(kWidth * kRows);
  for (std::int64_t row = 0; row < kRows; ++row) dropout_factors(dropout, row, kWidth, all.data() + row * kWidth);
  for (float& value : all) value = value > 0 ? 1.0F : 0.0F;
  return all;
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Of what is kept in two masks, the second taken `shift` elements further on.
double correlation(const std::vector<float>& a, const std::vector<float>& b, std::size_t shift) {
  const double mean_a = mean(a), mean_b = mean(b);
  double product = 0;
  for (std::size_t i = 0; i + shift < a.size(); ++i) product += (a[i] - mean_a) * (b[i + shift] - mean_b);
  const double variances = mean_a * (1 - mean_a) * mean_b * (1 - mean_b);
  return product / static_cast<double>(a.size() - shift) / std::sqrt(variances);
}

// Random123's published answers for threefry2x32 with 20 rounds.
TEST(Threefry, GivesThePublishedAnswers) {
  struct Known {
    std::array<std::uint32_t, 2> counter, key, words;
  };
  for (const Known& known : {Known{{0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe}},
                             Known{{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x1cb996fc, 0xbb002be7}},
                             Known{{0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}, {0xc4923a9c, 0x483df7a0}}}) {
    std::uint32_t words[2];
    threefry2x32({known.key[0], known.key[1]}, {known.counter[0], known.counter[1]}, words);
    EXPECT_EQ(words[0], known.words[0]);
    EXPECT_EQ(words[1], known.words[1]);
  }
}

TEST(Dropout, TakesItsBitsFromThreefryOfTheElementsPlace) {
  const Dropout dropout = make_dropout(0x123456789abcdef0, 7, 0.5);
  std::vector<float> factors(padded_width(300));
  dropout_factors(dropout, /*row=*/5, /*width=*/300, factors.data());
  const auto block = static_cast<std::uint32_t>(5 * padded_width(300) / kDropoutBlock);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t words[2];
    threefry2x32({0x9abcdef0, 0x12345678}, {block * 32 + lane, 7}, words);
    const std::array<std::uint32_t, 4> bits{words[0] & 0xffffU, words[0] >> 16U, words[1] & 0xffffU, words[1] >> 16U};
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(factors[32 * i + lane] > 0, bits[i] >= 32768) << lane << " " << i;
  }
}

TEST(Dropout, DropsAtItsRateAndKeepsTheExpectation) {
  for (const double rate : {0.001, 0.1, 0.25, 0.5, 0.9}) {
    const Dropout dropout = make_dropout(42, 0, rate);
    const double share = mean(kept(dropout)), deviation = std::sqrt(rate * (1 - rate) / kElements);
    EXPECT_NEAR(share, 1 - rate, 4.5 * deviation + 1.0 / 131072) << rate;
    EXPECT_NEAR(dropout.scale * (1 - dropout.threshold / 65536.0), 1, 1e-6) << rate;
  }
}

TEST(Dropout, OfNothingKeepsAllAndOfEverythingNone) {
  std::vector<float> factors(kDropoutBlock);
  dropout_factors(make_dropout(1, 2, 0), 0, kDropoutBlock, factors.data());
  EXPECT_THAT(factors, ::testing::Each(1.0F));
  dropout_factors(make_dropout(1, 2, 1), 0, kDropoutBlock, factors.data());
  EXPECT_THAT(factors, ::testing::Each(0.0F));
}

// A correlation of independent masks of 2^20 elements has a deviation of 2^-10.
constexpr double kMostCorrelation = 4.5 / 1024;

TEST(Dropout, IsIndependentOverElements) {
  const std::vector<float> mask = kept(make_dropout(7, 3, 0.1));
  for (const std::size_t shift : {1, 2, 16, 31, 32, 33, 64, 96, 127, 128, 512, 1024, 4096}) {
    EXPECT_LT(std::abs(correlation(mask, mask, shift)), kMostCorrelation) << shift;
  }
}

TEST(Dropout, IsIndependentOverLayersAndSteps) {
  const std::vector<float> mask = kept(make_dropout(7, 3, 0.1));
  for (const auto& [key, site] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {7, 4}, {7, 2}, {7, 259}, {8, 3}, {6, 3}, {7ULL << 32U, 3}, {7 | 1ULL << 32U, 3}, {3, 7}}) {
    const std::vector<float> other = kept(make_dropout(key, site, 0.1));
    for (const std::size_t shift : {0, 1, 32, 128}) {
      EXPECT_LT(std::abs(correlation(mask, other, shift)), kMostCorrelation) << key << " " << site << " " << shift;
    }
  }
}

// How many of 16 neighbours are kept: a binomial distribution, judged by chi-square.
TEST(Dropout, CountsOfNeighboursAreBinomial) {
  const std::vector<float> mask = kept(make_dropout(99, 1, 0.5));
  std::array<double, 17> found{};
  for (std::size_t i = 0; i < mask.size(); i += 16) {
    int count = 0;
    for (std::size_t j = 0; j < 16; ++j) count += mask[i + j] > 0 ? 1 : 0;
    ++found[count];
  }
  double chi_square = 0, choices = 1;
  for (int k = 0; k <= 16; ++k) {
    const double expected = kElements / 16 * choices / 65536;
    chi_square += (found[k] - expected) * (found[k] - expected) / expected;
    choices = choices * (16 - k) / (k + 1);
  }
  EXPECT_LT(chi_square, 44) << "16 degrees of freedom: more than 44 in one of 5000";
}

}  // namespace
}  // namespace lerobot::kernels
