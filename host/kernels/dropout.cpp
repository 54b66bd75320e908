#include "host/kernels/dropout.h"

#include <cmath>

#include "host/base/clones.h"

namespace lerobot::kernels {
namespace {

constexpr int kLanes = 32;
static_assert(kDropoutBlock == 4 * kLanes);

template <int kRotation, int kCount>
LEROBOT_INLINE void mix(std::uint32_t* x0, std::uint32_t* x1) {
  for (int lane = 0; lane < kCount; ++lane) {
    x0[lane] += x1[lane];
    x1[lane] = (x1[lane] << kRotation) | (x1[lane] >> (32 - kRotation));
    x1[lane] ^= x0[lane];
  }
}

template <int kCount>
LEROBOT_INLINE void inject(std::uint32_t* x0, std::uint32_t* x1, std::uint32_t k0, std::uint32_t k1) {
  for (int lane = 0; lane < kCount; ++lane) {
    x0[lane] += k0;
    x1[lane] += k1;
  }
}

/// A round for each rotation.
template <int kCount, int... kRotations>
LEROBOT_INLINE void rounds(std::uint32_t* x0, std::uint32_t* x1) {
  (mix<kRotations, kCount>(x0, x1), ...);
}

/// x0, x1: the counters of kCount lanes in, the random words out.
template <int kCount>
LEROBOT_INLINE void threefry(std::uint32_t* x0, std::uint32_t* x1, std::uint32_t k0, std::uint32_t k1) {
  const std::uint32_t k2 = 0x1BD11BDAU ^ k0 ^ k1;
  inject<kCount>(x0, x1, k0, k1);
  rounds<kCount, 13, 15, 26, 6>(x0, x1);
  inject<kCount>(x0, x1, k1, k2 + 1);
  rounds<kCount, 17, 29, 16, 24>(x0, x1);
  inject<kCount>(x0, x1, k2, k0 + 2);
  rounds<kCount, 13, 15, 26, 6>(x0, x1);
  inject<kCount>(x0, x1, k0, k1 + 3);
  rounds<kCount, 17, 29, 16, 24>(x0, x1);
  inject<kCount>(x0, x1, k1, k2 + 4);
  rounds<kCount, 13, 15, 26, 6>(x0, x1);
  inject<kCount>(x0, x1, k2, k0 + 5);
}

LEROBOT_INLINE float factor(std::uint32_t bits, int threshold, float scale) {
  return static_cast<int>(bits) >= threshold ? scale : 0.0F;
}

LEROBOT_CLONES void fill_blocks(std::uint32_t k0, std::uint32_t k1, std::uint32_t site, std::uint32_t first_block,
                                std::int64_t blocks, int threshold, float scale, float* factors) {
  for (std::int64_t block = 0; block < blocks; ++block, factors += kDropoutBlock) {
    std::uint32_t x0[kLanes], x1[kLanes];
    const std::uint32_t begin = (first_block + static_cast<std::uint32_t>(block)) * kLanes;
    for (int lane = 0; lane < kLanes; ++lane) {
      x0[lane] = begin + static_cast<std::uint32_t>(lane);
      x1[lane] = site;
    }
    threefry<kLanes>(x0, x1, k0, k1);
    for (int lane = 0; lane < kLanes; ++lane) {
      factors[lane] = factor(x0[lane] & 0xFFFFU, threshold, scale);
      factors[kLanes + lane] = factor(x0[lane] >> 16U, threshold, scale);
      factors[2 * kLanes + lane] = factor(x1[lane] & 0xFFFFU, threshold, scale);
      factors[3 * kLanes + lane] = factor(x1[lane] >> 16U, threshold, scale);
    }
  }
}

}  // namespace

Dropout make_dropout(std::uint64_t key, std::uint32_t site, double probability) {
  constexpr double kSteps = 65536;
  const auto threshold = static_cast<std::uint32_t>(std::lround(probability * kSteps));
  const double kept = 1 - threshold / kSteps;
  return {.key = key, .site = site, .threshold = threshold, .scale = kept > 0 ? static_cast<float>(1 / kept) : 0.0F};
}

void dropout_factors(const Dropout& dropout, std::int64_t row, std::int64_t width, float* factors) {
  const std::int64_t blocks = padded_width(width) / kDropoutBlock;
  fill_blocks(static_cast<std::uint32_t>(dropout.key), static_cast<std::uint32_t>(dropout.key >> 32U), dropout.site,
              static_cast<std::uint32_t>(row * blocks), blocks, static_cast<int>(dropout.threshold), dropout.scale,
              factors);
}

void threefry2x32(const std::uint32_t (&key)[2], const std::uint32_t (&counter)[2], std::uint32_t (&words)[2]) {
  words[0] = counter[0];
  words[1] = counter[1];
  threefry<1>(&words[0], &words[1], key[0], key[1]);
}

}  // namespace lerobot::kernels
