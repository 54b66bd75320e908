#include "host/data/sampler.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::data {
namespace {

/// numpy's SeedSequence (numpy/random/bit_generator.pyx, after Melissa O'Neill's seed_seq_fe), 32-bit arithmetic.
class SeedSequence {
 public:
  explicit SeedSequence(const std::vector<std::uint32_t>& words) {
    for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(i < words.size() ? words[i] : 0);
    for (std::size_t from = 0; from < pool_.size(); ++from) {
      for (std::size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
      }
    }
    for (std::size_t i = pool_.size(); i < words.size(); ++i) {
      for (std::uint32_t& entry : pool_) entry = mix(entry, hash(words[i]));
    }
  }

  std::uint64_t first_uint64() const {
    std::uint32_t multiplier = 0x8b51f9dd;
    std::array<std::uint64_t, 2> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint32_t value = pool_[i] ^ multiplier;
      multiplier *= 0x58f38ded;
      value *= multiplier;
      out[i] = value ^ value >> 16;
    }
    return out[0] | out[1] << 32;
  }

 private:
  std::uint32_t hash(std::uint32_t value) {
    value ^= multiplier_;
    multiplier_ *= 0x931e8875;
    value *= multiplier_;
    return value ^ value >> 16;
  }
  static std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
    const std::uint32_t result = 0xca01f9ddu * x - 0x4973f715u * y;
    return result ^ result >> 16;
  }

  std::uint32_t multiplier_ = 0x43b0d7e5;
  std::array<std::uint32_t, 4> pool_{};
};

/// The number's 32-bit words, lowest first; zero has one word.
void append_words(std::int64_t number, std::string_view name, std::vector<std::uint32_t>& words) {
  if (number < 0) fail(ErrorKind::kConfig, "{} is {}, needed a number that is not negative.", name, number);
  auto rest = static_cast<std::uint64_t>(number);
  do {
    words.push_back(static_cast<std::uint32_t>(rest));
    rest >>= 32;
  } while (rest != 0);
}

void warn_about_dropped(const std::vector<std::string>& dropped, std::int64_t first, std::int64_t last) {
  constexpr std::size_t kShown = 10;
  const std::vector<std::string> shown(dropped.begin(),
                                       dropped.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, dropped.size())));
  log::warn("{} episodes are too short to drop {} first and {} last frames and give no samples: {}{}", dropped.size(),
            first, last, join(shown, ", "), dropped.size() > kShown ? ", ..." : "");
}

}  // namespace

std::uint64_t epoch_seed(std::int64_t seed, std::int64_t epoch) {
  std::vector<std::uint32_t> words;
  append_words(seed, "seed", words);
  append_words(epoch, "epoch", words);
  return SeedSequence(words).first_uint64();
}

std::vector<std::int64_t> torch_randperm(std::int64_t n, std::uint64_t seed) {
  // Above this, torch draws 64 bits for each swap.
  constexpr std::int64_t kMaxElements = std::numeric_limits<std::uint32_t>::max() / 20;
  if (n >= kMaxElements) {
    fail(ErrorKind::kData, "an epoch of {} frames is more than the {} that can be shuffled. Choose fewer episodes.", n,
         kMaxElements - 1);
  }
  // torch's generator keeps 64 bits of a seed but starts its engine from the lower 32.
  std::mt19937 engine(static_cast<std::uint32_t>(seed));
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const auto offset = static_cast<std::int64_t>(engine()) % (n - i);
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i + offset)]);
  }
  return order;
}

EpisodeAwareSampler::EpisodeAwareSampler(const std::vector<Episode>& used, std::int64_t seed,
                                         std::int64_t drop_n_first_frames, std::int64_t drop_n_last_frames)
    : seed_(seed) {
  if (seed < 0) fail(ErrorKind::kConfig, "seed is {}, needed a number that is not negative.", seed);
  if (drop_n_first_frames < 0 || drop_n_last_frames < 0) {
    fail(ErrorKind::kConfig,
         "drop_n_first_frames is {} and drop_n_last_frames is {}, needed numbers that are not negative.",
         drop_n_first_frames, drop_n_last_frames);
  }
  std::vector<std::string> dropped;
  for (const Episode& episode : used) {
    const std::int64_t length = episode.length() - drop_n_first_frames - drop_n_last_frames;
    if (length <= 0) {
      dropped.push_back(format("episode {} ({} frames)", episode.index, episode.length()));
      continue;
    }
    spans_.push_back({size_, episode.first_row + drop_n_first_frames});
    size_ += length;
  }
  if (size_ == 0) {
    fail(ErrorKind::kData, "no frames are left: all {} episodes are too short to drop {} first and {} last frames.",
         used.size(), drop_n_first_frames, drop_n_last_frames);
  }
  if (!dropped.empty()) warn_about_dropped(dropped, drop_n_first_frames, drop_n_last_frames);
}

std::vector<std::int64_t> EpisodeAwareSampler::epoch_order(std::int64_t epoch) const {
  std::vector<std::int64_t> order = torch_randperm(size_, epoch_seed(seed_, epoch));
  for (std::int64_t& entry : order) {
    const auto after = std::upper_bound(spans_.begin(), spans_.end(), entry,
                                        [](std::int64_t p, const Span& span) { return p < span.first_position; });
    const Span& span = *std::prev(after);
    entry = span.first_row + (entry - span.first_position);
  }
  return order;
}

}  // namespace lerobot::data
