#include "host/policy/temporal_ensembler.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>

namespace lerobot::policy {

TemporalEnsembler::TemporalEnsembler(double coefficient, std::int64_t chunk_size)
    : weights_((at::arange(chunk_size) * -coefficient).exp().unsqueeze(1)), weights_cumsum_(weights_.cumsum(0)) {}

void TemporalEnsembler::reset() {
  actions_.reset();
  counts_.reset();
}

at::Tensor TemporalEnsembler::update(const at::Tensor& chunk) {
  const at::Tensor one = at::ones({1}, chunk.options().dtype(at::kLong));
  if (!actions_.defined()) {
    weights_ = weights_.to(chunk.device());
    weights_cumsum_ = weights_cumsum_.to(chunk.device());
    actions_ = chunk;
    counts_ = one.expand({chunk.size(1)});
  } else {
    const at::Tensor sum = actions_ * weights_cumsum_.index_select(0, counts_ - 1) +
                           chunk.slice(1, 0, -1) * weights_.index_select(0, counts_);
    const at::Tensor mean = sum / weights_cumsum_.index_select(0, counts_);
    actions_ = at::cat({mean, chunk.slice(1, -1)}, 1);
    counts_ = at::cat({(counts_ + 1).clamp_max(weights_.size(0)), one});
  }
  const at::Tensor now = actions_.select(1, 0);
  actions_ = actions_.slice(1, 1);
  counts_ = counts_.slice(0, 1);
  return now;
}

}  // namespace lerobot::policy
