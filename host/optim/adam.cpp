#include "host/optim/adam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "host/fused/parameters.h"

namespace lerobot::optim {

Adam::Adam(std::vector<policy::ParameterGroup> all_groups, const config::AdamConfig& config, Kernels kernels)
    : Optimizer(std::move(all_groups), config.lr, config.weight_decay),
      settings_(groups().size(), {config.betas, config.eps}),
      moments_(parameters().size()),
      decoupled_weight_decay_(false),
      kernels_(kernels) {}

Adam::Adam(std::vector<policy::ParameterGroup> all_groups, const config::AdamWConfig& config, Kernels kernels)
    : Optimizer(std::move(all_groups), config.lr, config.weight_decay),
      settings_(groups().size(), {config.betas, config.eps}),
      moments_(parameters().size()),
      decoupled_weight_decay_(true),
      kernels_(kernels) {}

at::Tensor Adam::clip(double max_norm) {
  if (kernels_ == Kernels::kReference) return Optimizer::clip(max_norm);
  const double norm = fused::norm(gradients_of(parameters()));
  const double factor = max_norm / (norm + 1e-6);
  gradient_factor_ = factor > 1 ? 1 : factor;  // NaN stays
  return at::scalar_tensor(norm, at::kFloat);
}

Adam::Moments& Adam::moments_of(std::size_t index, const at::Tensor& parameter) {
  Moments& moments = moments_[index];
  if (!moments.step.defined()) {
    moments = {at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)), at::zeros_like(parameter),
               at::zeros_like(parameter)};
  }
  return moments;
}

void Adam::update_fast() {
  std::vector<fused::AdamTensors> all;
  std::size_t index = 0;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    const Group& group = groups()[g];
    for (const auto& [name, parameter] : group.parameters) {
      const std::size_t i = index++;
      if (!parameter.grad().defined()) continue;
      Moments& moments = moments_of(i, parameter);
      moments.step.add_(1);
      all.push_back({.parameter = parameter,
                     .gradient = parameter.grad().contiguous(),
                     .exp_avg = moments.exp_avg,
                     .exp_avg_sq = moments.exp_avg_sq,
                     .step = {.beta1 = settings_[g].betas[0],
                              .beta2 = settings_[g].betas[1],
                              .eps = settings_[g].eps,
                              .lr = group.lr,
                              .weight_decay = group.weight_decay,
                              .decoupled = decoupled_weight_decay_,
                              .step = moments.step.item<float>(),
                              .gradient_factor = gradient_factor_}});
    }
  }
  fused::adam(all);
  gradient_factor_ = 1;
}

void Adam::update(const std::optional<at::Tensor>& overflowed) {
  if (kernels_ == Kernels::kFast && !overflowed) return update_fast();
  // Both have the same arguments.
  const auto fused = decoupled_weight_decay_ ? &at::_ops::_fused_adamw_::call : &at::_ops::_fused_adam_::call;
  std::size_t index = 0;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    const Group& group = groups()[g];
    std::vector<at::Tensor> parameters, gradients, exp_avgs, exp_avg_sqs, steps;
    for (const auto& [name, parameter] : group.parameters) {
      const std::size_t i = index++;
      if (!parameter.grad().defined()) continue;
      const Moments& moments = moments_of(i, parameter);
      parameters.push_back(parameter);
      gradients.push_back(parameter.grad());
      exp_avgs.push_back(moments.exp_avg);
      exp_avg_sqs.push_back(moments.exp_avg_sq);
      steps.push_back(moments.step);
    }
    if (parameters.empty()) continue;
    const AdamSettings& settings = settings_[g];
    at::_foreach_add_(steps, 1);
    fused(parameters, gradients, exp_avgs, exp_avg_sqs, /*max_exp_avg_sqs=*/{}, steps, group.lr, settings.betas[0],
          settings.betas[1], group.weight_decay, settings.eps, /*amsgrad=*/false, /*maximize=*/false,
          /*grad_scale=*/{}, overflowed);
    // A skipped update does not count.
    if (overflowed) at::_foreach_sub_(steps, std::vector<at::Tensor>(steps.size(), *overflowed));
  }
}

OrderedMap<at::Tensor> Adam::state_tensors() const {
  OrderedMap<at::Tensor> state;
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    if (!moments_[i].step.defined()) continue;
    const std::string prefix = "state/" + std::to_string(i) + "/";
    state.append(prefix + "step", moments_[i].step);
    state.append(prefix + "exp_avg", moments_[i].exp_avg);
    state.append(prefix + "exp_avg_sq", moments_[i].exp_avg_sq);
  }
  return state;
}

boost::json::object Adam::settings_json(std::size_t g) const {
  return {{"lr", groups()[g].lr},
          {"betas", {settings_[g].betas[0], settings_[g].betas[1]}},
          {"eps", settings_[g].eps},
          {"weight_decay", groups()[g].weight_decay},
          {"amsgrad", false},
          {"maximize", false},
          {"foreach", nullptr},
          {"capturable", false},
          {"differentiable", false},
          {"fused", nullptr},
          {"decoupled_weight_decay", decoupled_weight_decay_}};
}

void Adam::take_settings(std::size_t g, const boost::json::object& settings) {
  const boost::json::array& betas = settings.at("betas").get_array();
  settings_[g] = {{betas[0].as_double(), betas[1].as_double()}, settings.at("eps").as_double()};
}

OrderedMap<std::vector<std::int64_t>> Adam::state_shapes(const at::Tensor& parameter) const {
  return {{"step", {}}, {"exp_avg", parameter.sizes().vec()}, {"exp_avg_sq", parameter.sizes().vec()}};
}

void Adam::take_state(std::size_t index, const OrderedMap<at::Tensor>& state) {
  moments_[index] =
      state.empty() ? Moments{} : Moments{*state.find("step"), *state.find("exp_avg"), *state.find("exp_avg_sq")};
}

}  // namespace lerobot::optim
