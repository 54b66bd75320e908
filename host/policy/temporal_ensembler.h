#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lerobot::policy {

/// Exponentially weighted mean of the actions that successive chunks predict for one moment (Zhao et al. 2023, ACT,
/// algorithm 2). The oldest prediction has weight 1, the i-th after it exp(-coefficient * i).
class TemporalEnsembler {
 public:
  TemporalEnsembler(double coefficient, std::int64_t chunk_size);

  void reset();
  /// Takes the chunk predicted now, (B, chunk, A), and returns the action for now, (B, A).
  at::Tensor update(const at::Tensor& chunk);

 private:
  at::Tensor weights_;         // (chunk, 1)
  at::Tensor weights_cumsum_;  // (chunk, 1)
  at::Tensor actions_;         // (B, chunk - 1, A): the means for the coming moments; undefined after reset
  at::Tensor counts_;          // (chunk - 1): how many predictions are in each
};

}  // namespace lerobot::policy
