#include "tests/parity/policy/golden.h"

#include <ATen/TensorOperators.h>

#include <limits>

#include "host/base/json.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::policy::golden {

OrderedMap<at::Tensor> tensors(const std::string& path) {
  return checkpoint::read_tensors(format("{}/{}", LEROBOT_TEST_DATA, path));
}

Golden::Golden(const std::string& name)
    : folder_("goldens/" + name),
      about_(json::read_file(format("{}/{}/golden.json", LEROBOT_TEST_DATA, folder_), ErrorKind::kData).as_object()) {}

OrderedMap<at::Tensor> Golden::file(const std::string& name) const {
  return tensors(format("{}/{}.safetensors", folder_, name));
}

Batch Golden::batch() const {
  Batch batch;
  for (const auto& [name, tensor] : file("batch")) batch[name] = tensor;
  return batch;
}

config::ActConfig Golden::config() const {
  config::ActConfig config;
  if (folder_.ends_with("act_pusht")) {
    config.input_features["observation.image"] = {config::FeatureType::kVisual, {3, 96, 96}};
  } else {
    config.input_features["observation.environment_state"] = {config::FeatureType::kEnv, {16}};
  }
  config.input_features["observation.state"] = {config::FeatureType::kState, {2}};
  config.output_features["action"] = {config::FeatureType::kAction, {2}};
  config.chunk_size = config.n_action_steps = 10;
  config.dim_model = 64;
  config.n_heads = 4;
  config.dim_feedforward = 128;
  config.dropout = 0;
  return config;
}

std::unique_ptr<Policy> Golden::policy(const config::ActConfig& config, Kernels kernels) const {
  std::string where(about_.at("initial").at("all").as_string());
  where.replace(where.find("fixtures/"), 9, "checkpoints/");
  where.replace(where.find("_checkpoint/"), 12, "/");
  std::unique_ptr<Policy> policy = make_policy(config, at::kCPU, kernels);
  load_state(*policy, tensors(where));
  const at::Tensor noise = *file("noise").find("eps");
  dynamic_cast<ActPolicy&>(*policy).set_noise_source(
      [noise, next = std::int64_t{0}](const at::Tensor&) mutable { return noise[next++]; });
  return policy;
}

at::Tensor kept(const at::Tensor& tensor, const boost::json::object& note) {
  const auto* stride = note.if_contains("stride");
  const at::Tensor values = tensor.detach();
  return stride == nullptr ? values : values.flatten().slice(0, 0, std::nullopt, stride->as_int64()).slice(0, 0, 512);
}

double norm(const at::Tensor& tensor) {
  return tensor.detach().to(at::kDouble).norm().item<double>();
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  return norm(a.to(at::kDouble) - b.to(at::kDouble)) / std::max(norm(b), std::numeric_limits<double>::min());
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace lerobot::policy::golden
