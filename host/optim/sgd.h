#pragma once

#include "host/optim/optimizer.h"

namespace lerobot::optim {

/// Stochastic gradient descent with momentum, as torch.optim.SGD, one fused operator per group.
class Sgd final : public Optimizer {
 public:
  Sgd(std::vector<policy::ParameterGroup> groups, const config::SgdConfig& config);

  OrderedMap<at::Tensor> state_tensors() const override;

 protected:
  void update(const std::optional<at::Tensor>& overflowed) override;
  boost::json::object settings_json(std::size_t group) const override;
  void take_settings(std::size_t group, const boost::json::object& settings) override;
  OrderedMap<std::vector<std::int64_t>> state_shapes(const at::Tensor& parameter) const override;
  void take_state(std::size_t index, const OrderedMap<at::Tensor>& state) override;

 private:
  struct Settings {
    double momentum, dampening;
    bool nesterov;
  };
  void update_group(std::size_t group, const std::vector<std::size_t>& indices, bool first,
                    const std::optional<at::Tensor>& overflowed);

  std::vector<at::Tensor> parameters_;        // by index
  std::vector<Settings> settings_;            // of each group
  std::vector<at::Tensor> momentum_buffers_;  // of each parameter; undefined before its first update
};

}  // namespace lerobot::optim
