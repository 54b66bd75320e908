#pragma once

#include <array>

#include "host/optim/optimizer.h"

namespace lerobot::optim {

struct AdamSettings {
  std::array<double, 2> betas;
  double eps;
};

/// Adam (Kingma and Ba 2015) and AdamW: torch's fused operator for each group, or with fast kernels one pass over all
/// parameters that clips as well.
class Adam final : public Optimizer {
 public:
  Adam(std::vector<policy::ParameterGroup> groups, const config::AdamConfig& config, Kernels kernels);
  Adam(std::vector<policy::ParameterGroup> groups, const config::AdamWConfig& config, Kernels kernels);

  at::Tensor clip(double max_norm) override;
  OrderedMap<at::Tensor> state_tensors() const override;

 protected:
  void update(const std::optional<at::Tensor>& overflowed) override;
  boost::json::object settings_json(std::size_t group) const override;
  void take_settings(std::size_t group, const boost::json::object& settings) override;
  OrderedMap<std::vector<std::int64_t>> state_shapes(const at::Tensor& parameter) const override;
  void take_state(std::size_t index, const OrderedMap<at::Tensor>& state) override;

 private:
  struct Moments {
    at::Tensor step;                 // float32 scalar on the device; undefined before the first update
    at::Tensor exp_avg, exp_avg_sq;  // like the parameter
  };

  /// The moments of a parameter, made if it has none.
  Moments& moments_of(std::size_t index, const at::Tensor& parameter);
  /// The update by host/fused.
  void update_fast();

  std::vector<AdamSettings> settings_;  // of each group
  std::vector<Moments> moments_;        // of each parameter
  /// AdamW (Loshchilov and Hutter 2019); otherwise weight decay is added to the gradient.
  bool decoupled_weight_decay_;
  Kernels kernels_;
  double gradient_factor_ = 1;  // fast kernels: what clipping wants of the coming step
};

}  // namespace lerobot::optim
