#pragma once

#include <cstdint>

namespace lerobot::kernels {

/// One application of dropout: which elements are dropped depends on these numbers and the element's place only, so it
/// is the same for any number of threads and can be found again in the backward pass.
struct Dropout {
  std::uint64_t key = 0;        ///< of the forward pass
  std::uint32_t site = 0;       ///< counts the applications within the pass
  std::uint32_t threshold = 0;  ///< an element is dropped when its 16 random bits are below this; 0: no dropout
  float scale = 1;              ///< of what is kept: 1 / (1 - rate)
};

/// Dropout with a probability in [0, 1], rounded to a multiple of 2^-16; the scale belongs to the rounded one.
Dropout make_dropout(std::uint64_t key, std::uint32_t site, double probability);

/// Random numbers are made for so many elements at a time; each row of a tensor begins with a new block.
inline constexpr std::int64_t kDropoutBlock = 128;

/// Width of a row, rounded up to whole blocks.
constexpr std::int64_t padded_width(std::int64_t width) {
  return (width + kDropoutBlock - 1) / kDropoutBlock * kDropoutBlock;
}

/// The factors (0 or the scale) of a row of `width` elements. `factors` has room for padded_width(width).
void dropout_factors(const Dropout& dropout, std::int64_t row, std::int64_t width, float* factors);

/// The two words that Threefry-2x32 with 20 rounds (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3")
/// makes of a counter. dropout_factors uses the counter {block * 32 + lane, site}.
void threefry2x32(const std::uint32_t (&key)[2], const std::uint32_t (&counter)[2], std::uint32_t (&words)[2]);

}  // namespace lerobot::kernels
