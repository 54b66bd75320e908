#include "host/optim/optimizer.h"

#include <torch/csrc/autograd/grad_mode.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <type_traits>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/optim/adam.h"
#include "host/optim/sgd.h"
#include "host/optim/strict_json.h"
#include "host/policy/shape_text.h"

namespace lerobot::optim {

Optimizer::Optimizer(std::vector<policy::ParameterGroup> groups, double lr, double weight_decay) : default_lr_(lr) {
  for (policy::ParameterGroup& group : groups) {
    groups_.push_back({std::move(group.parameters), group.lr.value_or(lr), std::nullopt, weight_decay});
  }
}

void Optimizer::step(const std::optional<at::Tensor>& found_inf) {
  const at::NoGradGuard no_grad;
  // The fused operators compare with 1, and a flag summed over ranks may be more.
  update(found_inf ? std::optional(found_inf->ne(0).to(at::kFloat).reshape({})) : std::nullopt);
}

at::Tensor Optimizer::clip(double max_norm) {
  return clip_grad_norm(parameters(), max_norm);
}

void Optimizer::zero_grad() {
  for (const at::Tensor& parameter : parameters()) parameter.mutable_grad() = at::Tensor();
}

std::vector<at::Tensor> Optimizer::parameters() const {
  std::vector<at::Tensor> all;
  for (const Group& group : groups_) {
    for (const auto& [name, parameter] : group.parameters) all.push_back(parameter);
  }
  return all;
}

boost::json::value Optimizer::param_groups_json() const {
  boost::json::array json;
  std::size_t index = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    boost::json::object entry = settings_json(g);
    if (group.initial_lr) entry["initial_lr"] = *group.initial_lr;
    boost::json::array& params = (entry["params"] = boost::json::array()).as_array();
    for (std::size_t i = 0; i < group.parameters.size(); ++i) params.emplace_back(index++);
    json.emplace_back(std::move(entry));
  }
  return json;
}

void Optimizer::load(const OrderedMap<at::Tensor>& tensors, const boost::json::value& param_groups,
                     std::string_view source) {
  check_groups(param_groups, source);
  const std::vector<OrderedMap<at::Tensor>> states = read_states(tensors, source);

  for (std::size_t i = 0; i < states.size(); ++i) take_state(i, states[i]);
  const boost::json::array& stored = param_groups.get_array();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const boost::json::object& settings = stored[g].get_object();
    groups_[g].lr = settings.at("lr").as_double();
    groups_[g].weight_decay = settings.at("weight_decay").as_double();
    if (const auto* initial = settings.if_contains("initial_lr")) groups_[g].initial_lr = initial->as_double();
    take_settings(g, settings);
  }
}

void Optimizer::check_groups(const boost::json::value& stored, std::string_view source) const {
  const std::string where = format("{}: optimizer groups", source);
  const boost::json::value own = param_groups_json();
  check_same_form(stored, own, where);
  // Numbers are taken over. Flags are not: they would make another algorithm of it.
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (const auto& [key, value] : own.at(g).get_object()) {
      const boost::json::value& found = stored.at(g).get_object().at(key);
      if (found == value || (!value.is_bool() && key != "params")) continue;
      fail(ErrorKind::kCheckpoint, "{}[{}].{}: found {}, needed {}. Resume with the configuration it was saved with.",
           where, g, std::string_view(key), json::write_line(found), json::write_line(value));
    }
  }
}

std::vector<OrderedMap<at::Tensor>> Optimizer::read_states(const OrderedMap<at::Tensor>& tensors,
                                                           std::string_view source) const {
  std::vector<OrderedMap<at::Tensor>> states;
  std::size_t used = 0;
  for (const at::Tensor& parameter : parameters()) {
    const OrderedMap<std::vector<std::int64_t>> shapes = state_shapes(parameter);
    OrderedMap<at::Tensor>& state = states.emplace_back();
    for (const auto& [key, shape] : shapes) {
      const std::string name = format("state/{}/{}", states.size() - 1, key);
      const at::Tensor* stored = tensors.find(name);
      if (stored == nullptr) continue;
      if (stored->sizes() != c10::IntArrayRef(shape) || stored->scalar_type() != at::kFloat) {
        fail(ErrorKind::kCheckpoint,
             "{}: {}: found {} of shape {}, needed Float of {}. Resume with the policy it was saved with.", source,
             name, c10::toString(stored->scalar_type()), policy::shape_text(stored->sizes()),
             policy::shape_text(shape));
      }
      state.append(key, stored->to(parameter.device(), at::kFloat, /*non_blocking=*/false, /*copy=*/true));
    }
    if (!state.empty() && state.size() != shapes.size()) {
      fail(ErrorKind::kCheckpoint,
           "{}: state/{}: found {} tensors, needed {}. The file is not whole; use another checkpoint.", source,
           states.size() - 1, state.size(), shapes.size());
    }
    used += state.size();
  }
  if (used != tensors.size()) {
    fail(ErrorKind::kCheckpoint,
         "{}: found {} optimizer tensors, of which {} fit. Resume with the policy and optimizer it was saved with.",
         source, tensors.size(), used);
  }
  return states;
}

std::unique_ptr<Optimizer> make_optimizer(const config::OptimizerConfig& config,
                                          std::vector<policy::ParameterGroup> groups, Kernels kernels) {
  const auto make = [&](const auto& choice) -> std::unique_ptr<Optimizer> {
    if constexpr (std::is_same_v<std::decay_t<decltype(choice)>, config::SgdConfig>) {
      return std::make_unique<Sgd>(std::move(groups), choice);
    } else {
      return std::make_unique<Adam>(std::move(groups), choice, kernels);
    }
  };
  return std::visit(make, config);
}

double grad_clip_norm(const config::OptimizerConfig& config) {
  return std::visit([](const auto& choice) { return choice.grad_clip_norm; }, config);
}

}  // namespace lerobot::optim
