#pragma once

#include <ATen/core/Tensor.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/policy/act_model.h"
#include "host/policy/policy.h"
#include "host/policy/temporal_ensembler.h"

namespace lerobot::policy {

/// Action Chunking with Transformers (Zhao et al. 2023).
class ActPolicy final : public Policy {
 public:
  /// Noise of the given tensor's shape, type and device.
  using NoiseSource = std::function<at::Tensor(const at::Tensor& like)>;

  /// Parameters on the CPU; use make_policy. Throws Error(kConfig).
  explicit ActPolicy(const config::ActConfig& config, Kernels kernels = Kernels::kReference);

  Loss forward(const Batch& batch) override;
  at::Tensor predict_action_chunk(const Batch& batch) override;
  at::Tensor select_action(const Batch& batch) override;
  void reset() override;
  void set_training(bool training) override { training_ = training; }
  std::vector<ParameterGroup> optim_groups() const override;
  bool has_backbone() const override { return model_.backbone.has_value(); }
  void load_backbone(const OrderedMap<at::Tensor>& weights) override;

  /// Replaces the normal noise of the variational encoder, for tests that replay recorded noise.
  void set_noise_source(NoiseSource noise) { noise_ = std::move(noise); }

 protected:
  void visit(TensorVisitor& visitor) override { visitor.child("model", model_); }
  void on_state_changed() override;

 private:
  /// What the model makes of a batch.
  struct Output {
    at::Tensor actions;           // (B, chunk, A), or (1, T, A) of those that are wanted
    at::Tensor mu, log_sigma_x2;  // (B, latent); undefined without the variational encoder
  };

  Output run(const Batch& batch, const TokenRows& wanted);
  /// The actions that a loss looks at: all, or where that saves work those that are not padding.
  TokenRows counted(const at::Tensor& is_pad) const;
  /// The distribution of the latent given the actions: mean and 2 log(deviation), (B, latent) each.
  std::pair<at::Tensor, at::Tensor> encode_actions(const Batch& batch, Pass& pass) const;
  Memory encode_observations(const Batch& batch, const at::Tensor& latent, Pass& pass);
  /// (chunk, B, D), or (T, 1, D) of those that are wanted.
  at::Tensor decode(const Memory& memory, std::int64_t batch, const TokenRows& wanted, Pass& pass) const;
  /// Positions of a camera's tokens, (height * columns, 1, D), computed once per size.
  const at::Tensor& image_positions(std::int64_t height, std::int64_t columns);

  std::int64_t batch_size(const Batch& batch) const;
  at::Device device() const { return model_.action_head.weight.device(); }

  config::ActConfig config_;
  ActInputs inputs_;
  ActModel model_;
  Kernels kernels_;
  NoiseSource noise_;
  bool training_ = true;
  std::map<std::pair<std::int64_t, std::int64_t>, at::Tensor> image_positions_;
  std::deque<at::Tensor> queue_;  // actions (B, A) still to be taken
  std::optional<TemporalEnsembler> ensembler_;
};

}  // namespace lerobot::policy
