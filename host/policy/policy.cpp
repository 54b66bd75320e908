#include "host/policy/policy.h"

#include <torch/csrc/autograd/grad_mode.h>

#include <type_traits>

#include "host/base/error.h"
#include "host/policy/act.h"
#include "host/policy/shape_text.h"

namespace lerobot::policy {

OrderedMap<at::Tensor> Policy::tensors(bool with_buffers) const {
  OrderedMap<at::Tensor> found;
  TensorVisitor visitor([&](const std::string& name, at::Tensor& tensor, TensorVisitor::Kind kind) {
    if (with_buffers || kind == TensorVisitor::Kind::kParameter) found.append(name, tensor);
  });
  const_cast<Policy*>(this)->visit(visitor);  // the visitor only reads
  return found;
}

OrderedMap<at::Tensor> Policy::state_dict() const {
  return tensors(true);
}
OrderedMap<at::Tensor> Policy::parameters() const {
  return tensors(false);
}

std::int64_t Policy::num_parameters() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : parameters()) count += tensor.numel();
  return count;
}

std::unique_ptr<Policy> make_policy(const config::PolicyConfig& config, const at::Device& device, Kernels kernels) {
  const auto* act = std::get_if<config::ActConfig>(&config);
  if (act == nullptr)
    fail(ErrorKind::kConfig, "--policy.type: found {}, needed act. Use act.", config::type_name(config));

  const at::NoGradGuard no_grad;
  std::unique_ptr<Policy> policy = std::make_unique<ActPolicy>(*act, kernels);
  TensorVisitor rebind([&](const std::string&, at::Tensor& tensor, TensorVisitor::Kind kind) {
    tensor = tensor.to(device);
    tensor.set_requires_grad(kind == TensorVisitor::Kind::kParameter);
  });
  policy->visit(rebind);
  policy->on_state_changed();
  return policy;
}

LoadReport load_state(Policy& policy, const OrderedMap<at::Tensor>& state) {
  LoadReport report;
  const OrderedMap<at::Tensor> own = policy.state_dict();
  for (const auto& [name, tensor] : own) {
    const at::Tensor* stored = state.find(name);
    if (stored == nullptr) {
      report.missing.push_back(name);
    } else if (stored->sizes() != tensor.sizes()) {
      fail(ErrorKind::kCheckpoint,
           "{}: found shape {} in the weights, needed {}. Use the policy configuration they were made with.", name,
           shape_text(stored->sizes()), shape_text(tensor.sizes()));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!own.contains(name)) report.unexpected.push_back(name);
  }
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) {
    if (const at::Tensor* stored = state.find(name)) tensor.copy_(*stored);
  }
  policy.on_state_changed();
  return report;
}

}  // namespace lerobot::policy
