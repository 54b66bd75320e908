#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/config/policy_config.h"
#include "host/policy/module.h"
#include "host/policy/parameter_group.h"
#include "host/policy/pass.h"

namespace lerobot::policy {

/// Key to tensor, first axis B (the batch), normalized, on the policy's device.
using Batch = std::map<std::string, at::Tensor>;

/// A loss and what it is made of: scalars on the device. Reading one waits for the device.
struct Loss {
  at::Tensor total;
  OrderedMap<at::Tensor> parts;
};

/// A policy and its parameters, which stay where make_policy put them.
class Policy {
 public:
  virtual ~Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  /// The training loss of a batch (the held-out loss outside training mode). Throws Error(kData) when a tensor is
  /// missing or has a shape that does not fit.
  virtual Loss forward(const Batch& batch) = 0;
  /// Normalized actions (B, chunk, A). Switches to evaluation mode; no gradients.
  virtual at::Tensor predict_action_chunk(const Batch& batch) = 0;
  /// The next normalized action (B, A), from the queue of predicted ones. Switches to evaluation mode; no gradients.
  virtual at::Tensor select_action(const Batch& batch) = 0;
  /// Forgets what select_action keeps: call it when an episode begins.
  virtual void reset() = 0;
  virtual void set_training(bool training) = 0;
  virtual std::vector<ParameterGroup> optim_groups() const = 0;
  /// Whether there is an image backbone that pretrained weights could be loaded into.
  virtual bool has_backbone() const = 0;
  /// Copies its weights, named as torchvision names them (conv1.weight, layer1.0.bn1.running_var, ...). fc.* and
  /// num_batches_tracked are not used. Throws Error(kConfig) when one is missing or has another shape.
  virtual void load_backbone(const OrderedMap<at::Tensor>& weights) = 0;

  /// Parameters and buffers under Python's names, in the order of its state_dict. The tensors are the policy's own.
  OrderedMap<at::Tensor> state_dict() const;
  OrderedMap<at::Tensor> parameters() const;
  /// Numbers of elements of all parameters; all of them learn.
  std::int64_t num_parameters() const;

 protected:
  Policy() = default;
  friend std::unique_ptr<Policy> make_policy(const config::PolicyConfig&, const at::Device&, Kernels);
  friend struct LoadReport load_state(Policy&, const OrderedMap<at::Tensor>&);

  /// Lists all tensors. The references stay valid as long as the policy lives.
  virtual void visit(TensorVisitor& visitor) = 0;
  /// Called after tensors were moved or overwritten, to renew what is computed from them.
  virtual void on_state_changed() = 0;

 private:
  OrderedMap<at::Tensor> tensors(bool with_buffers) const;
};

/// Draws the parameters from the global CPU generator in Python's order, then moves them to the device. The
/// configuration's features must be filled in. Fast kernels need the CPU and float32. Throws Error(kConfig) for what
/// this program does not support.
std::unique_ptr<Policy> make_policy(const config::PolicyConfig& config, const at::Device& device,
                                    Kernels kernels = Kernels::kReference);

/// Names that load_state found on one side only.
struct LoadReport {
  std::vector<std::string> missing;     // the policy has it, the state has not
  std::vector<std::string> unexpected;  // the reverse
};

/// Copies a state into the policy. As Python's: names may differ and are reported, shapes may not. Throws
/// Error(kCheckpoint) before anything is changed.
LoadReport load_state(Policy& policy, const OrderedMap<at::Tensor>& state);

}  // namespace lerobot::policy
