#include "host/optim/sgd.h"

#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>

#include <boost/json/object.hpp>

#include "host/base/error.h"

namespace lerobot::optim {

Sgd::Sgd(std::vector<policy::ParameterGroup> all_groups, const config::SgdConfig& config)
    : Optimizer(std::move(all_groups), config.lr, config.weight_decay),
      parameters_(parameters()),
      settings_(groups().size(), {config.momentum, config.dampening, config.nesterov}),
      momentum_buffers_(parameters_.size()) {
  if (config.nesterov && (config.momentum <= 0 || config.dampening != 0)) {
    fail(ErrorKind::kConfig,
         "--optimizer.nesterov: found momentum={} and dampening={}, needed a momentum and no dampening.",
         config.momentum, config.dampening);
  }
}

void Sgd::update(const std::optional<at::Tensor>& overflowed) {
  std::size_t index = 0;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    // The operator takes one flag for all: whether the momentum begins with this gradient.
    std::vector<std::size_t> beginning, going_on;
    for (std::size_t i = 0; i < groups()[g].parameters.size(); ++i, ++index) {
      if (!parameters_[index].grad().defined()) continue;
      const bool begins = settings_[g].momentum != 0 && !momentum_buffers_[index].defined();
      (begins ? beginning : going_on).push_back(index);
    }
    update_group(g, going_on, /*first=*/false, overflowed);
    // A momentum must not begin with a skipped update, so the host looks, once.
    if (!beginning.empty() && !(overflowed && overflowed->item<float>() != 0))
      update_group(g, beginning, /*first=*/true, overflowed);
  }
}

void Sgd::update_group(std::size_t g, const std::vector<std::size_t>& indices, bool first,
                       const std::optional<at::Tensor>& overflowed) {
  if (indices.empty()) return;
  const Settings& settings = settings_[g];
  std::vector<at::Tensor> parameters, gradients, buffers;
  for (const std::size_t i : indices) {
    if (first) momentum_buffers_[i] = at::empty_like(parameters_[i]);
    parameters.push_back(parameters_[i]);
    gradients.push_back(parameters_[i].grad());
    if (settings.momentum != 0) buffers.push_back(momentum_buffers_[i]);
  }
  at::_fused_sgd_(parameters, gradients, buffers, groups()[g].weight_decay, settings.momentum, groups()[g].lr,
                  settings.dampening, settings.nesterov, /*maximize=*/false, first, /*grad_scale=*/{}, overflowed);
}

OrderedMap<at::Tensor> Sgd::state_tensors() const {
  OrderedMap<at::Tensor> state;
  for (std::size_t i = 0; i < momentum_buffers_.size(); ++i) {
    if (momentum_buffers_[i].defined())
      state.append("state/" + std::to_string(i) + "/momentum_buffer", momentum_buffers_[i]);
  }
  return state;
}

boost::json::object Sgd::settings_json(std::size_t g) const {
  return {{"lr", groups()[g].lr},
          {"momentum", settings_[g].momentum},
          {"dampening", settings_[g].dampening},
          {"weight_decay", groups()[g].weight_decay},
          {"nesterov", settings_[g].nesterov},
          {"maximize", false},
          {"foreach", nullptr},
          {"differentiable", false},
          {"fused", nullptr}};
}

void Sgd::take_settings(std::size_t g, const boost::json::object& settings) {
  settings_[g].momentum = settings.at("momentum").as_double();
  settings_[g].dampening = settings.at("dampening").as_double();
}

OrderedMap<std::vector<std::int64_t>> Sgd::state_shapes(const at::Tensor& parameter) const {
  return {{"momentum_buffer", parameter.sizes().vec()}};
}

void Sgd::take_state(std::size_t index, const OrderedMap<at::Tensor>& state) {
  momentum_buffers_[index] = state.empty() ? at::Tensor() : *state.find("momentum_buffer");
}

}  // namespace lerobot::optim
