#pragma once

#include <ATen/core/Tensor.h>

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/config/optim_config.h"
#include "host/fused/kernels.h"
#include "host/policy/parameter_group.h"

namespace lerobot::optim {

/// Parameters with the same settings.
struct Group {
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  double lr = 0;
  std::optional<double> initial_lr;  // set by a scheduler
  double weight_decay = 0;
};

/// Adam, AdamW or SGD as torch.optim has them, saved in the form of Python's checkpoints.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of the parameters that have a gradient. `found_inf`: a float32 cell on the device; where it is not zero
  /// nothing changes (the update of a loss scaler that overflowed), and the host does not wait to know.
  void step(const std::optional<at::Tensor>& found_inf = std::nullopt);
  /// Clips the gradients of the coming step (clip_grad_norm). Returns their norm before that. A kind of optimizer may
  /// put the factor into its step instead, and leave the gradients as they are.
  virtual at::Tensor clip(double max_norm);
  /// Drops the gradients; the next backward pass makes new ones.
  void zero_grad();

  std::vector<Group>& groups() { return groups_; }
  const std::vector<Group>& groups() const { return groups_; }
  /// All parameters, by their index in the state.
  std::vector<at::Tensor> parameters() const;
  /// The learning rate of the configuration, which groups without their own have.
  double default_lr() const { return default_lr_; }

  /// "state/<index>/<name>" for every parameter that was updated; indices count through the groups.
  virtual OrderedMap<at::Tensor> state_tensors() const = 0;
  /// The groups as optimizer_param_groups.json has them: keys, order and types of torch 2.11.
  boost::json::value param_groups_json() const;
  /// Takes over a saved state, as strictly as Python: the same groups, keys and types, the shapes of the parameters.
  /// `source` names the checkpoint in messages. Throws Error(kCheckpoint) before anything is changed.
  void load(const OrderedMap<at::Tensor>& tensors, const boost::json::value& param_groups, std::string_view source);

 protected:
  Optimizer(std::vector<policy::ParameterGroup> groups, double lr, double weight_decay);

  /// step(), without recording gradients. `overflowed`: a float32 scalar on the device, 0 or 1.
  virtual void update(const std::optional<at::Tensor>& overflowed) = 0;
  /// A group's keys except `initial_lr` and `params`.
  virtual boost::json::object settings_json(std::size_t group) const = 0;
  /// Takes over settings that were checked; lr, initial_lr and weight_decay are done already.
  virtual void take_settings(std::size_t group, const boost::json::object& settings) = 0;
  /// The tensors that a parameter's state consists of, with their shapes.
  virtual OrderedMap<std::vector<std::int64_t>> state_shapes(const at::Tensor& parameter) const = 0;
  /// Takes over the state of one parameter, checked and copied to its device; empty for a parameter without state.
  virtual void take_state(std::size_t index, const OrderedMap<at::Tensor>& state) = 0;

 private:
  void check_groups(const boost::json::value& stored, std::string_view source) const;
  /// The state of each parameter, checked and copied to its device.
  std::vector<OrderedMap<at::Tensor>> read_states(const OrderedMap<at::Tensor>& tensors, std::string_view source) const;

  std::vector<Group> groups_;
  double default_lr_;
};

/// Fast kernels need parameters on the CPU in float32.
std::unique_ptr<Optimizer> make_optimizer(const config::OptimizerConfig& config,
                                          std::vector<policy::ParameterGroup> groups,
                                          Kernels kernels = Kernels::kReference);

/// The configuration's grad_clip_norm.
double grad_clip_norm(const config::OptimizerConfig& config);

/// The gradients of those parameters that have one.
std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters);

/// Scales the gradients so that their common norm is at most max_norm (torch.nn.utils.clip_grad_norm_). Returns the
/// norm before that, as a scalar on the device: the host does not wait. Infinity as max_norm measures only.
at::Tensor clip_grad_norm(const std::vector<at::Tensor>& parameters, double max_norm);

}  // namespace lerobot::optim
