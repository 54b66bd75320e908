#pragma once

#include <array>

#include "host/optim/optimizer.h"

namespace lerobot::optim {

struct AdamSettings {
  std::array<double, 2> betas;
  double eps;
};

/// Adam (Kingma and Ba 2015) and AdamW, one fused operator per group.
class Adam final : public Optimizer {
 public:
  Adam(std::vector<policy::ParameterGroup> groups, const config::AdamConfig& config);
  Adam(std::vector<policy::ParameterGroup> groups, const config::AdamWConfig& config);

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

  std::vector<AdamSettings> settings_;  // of each group
  std::vector<Moments> moments_;        // of each parameter
  /// AdamW (Loshchilov and Hutter 2019); otherwise weight decay is added to the gradient.
  bool decoupled_weight_decay_;
};

}  // namespace lerobot::optim
