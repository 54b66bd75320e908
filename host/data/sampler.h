#pragma once

#include <cstdint>
#include <vector>

#include "host/data/metadata.h"

namespace lerobot::data {

/// numpy's SeedSequence([seed, epoch]).generate_state(1, uint64)[0]: what seeds the order of an epoch. Neither may be
/// negative.
std::uint64_t epoch_seed(std::int64_t seed, std::int64_t epoch);

/// torch.randperm(n) with a CPU generator seeded with `seed`.
std::vector<std::int64_t> torch_randperm(std::int64_t n, std::uint64_t seed);

/// The order of frames in training, LeRobot's own bit for bit: a random permutation of the episodes' frames, a function
/// of (seed, epoch) only. Holds one number per episode; a permutation is made when asked for.
class EpisodeAwareSampler {
 public:
  /// `used`: the episodes with their first_row. Episodes too short for the drops give no frames and are warned about.
  /// Throws Error(kConfig) for negative numbers, Error(kData) when no frame is left.
  EpisodeAwareSampler(const std::vector<Episode>& used, std::int64_t seed, std::int64_t drop_n_first_frames,
                      std::int64_t drop_n_last_frames);

  std::int64_t size() const { return size_; }
  /// Rows of the dataset, each frame once.
  std::vector<std::int64_t> epoch_order(std::int64_t epoch) const;

 private:
  struct Span {
    std::int64_t first_position, first_row;
  };

  std::int64_t seed_;
  std::int64_t size_ = 0;
  std::vector<Span> spans_;
};

}  // namespace lerobot::data
