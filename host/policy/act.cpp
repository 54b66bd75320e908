#include "host/policy/act.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/grad_mode.h>

#include "host/base/error.h"
#include "host/policy/position.h"
#include "host/policy/shape_text.h"

namespace lerobot::policy {
namespace {

// The tensor of a batch, checked against a shape in which -1 fits everything.
const at::Tensor& input(const Batch& batch, const std::string& key, std::vector<std::int64_t> needed) {
  const auto at = batch.find(key);
  if (at == batch.end())
    fail(ErrorKind::kData, "{}: found nothing in the batch, needed a tensor. The policy has it as a feature.", key);
  const c10::IntArrayRef found = at->second.sizes();
  bool fits = found.size() == needed.size();
  for (std::size_t i = 0; fits && i < needed.size(); ++i) fits = needed[i] == -1 || needed[i] == found[i];
  if (!fits) {
    fail(ErrorKind::kData,
         "{}: found shape {} in the batch, needed {} (-1: any). Give the policy data of its features' shapes.", key,
         shape_text(found), shape_text(needed));
  }
  return at->second;
}

at::Tensor kl_divergence(const at::Tensor& mu, const at::Tensor& log_sigma_x2) {
  return (-0.5 * (1 + log_sigma_x2 - mu.pow(2) - log_sigma_x2.exp())).sum(-1).mean();
}

// Mean absolute error over the elements that are not padding; 0 if all are.
at::Tensor masked_l1(const at::Tensor& actions, const at::Tensor& predicted, const at::Tensor& is_pad) {
  const at::Tensor error = at::l1_loss(actions, predicted, at::Reduction::None);
  const at::Tensor valid = is_pad.logical_not().unsqueeze(-1);
  return (error * valid).sum() / (valid.sum() * actions.size(-1)).clamp_min(1);
}

}  // namespace

ActPolicy::ActPolicy(const config::ActConfig& config, Kernels kernels)
    : config_(config),
      inputs_(check_act_config(config)),
      model_(config, inputs_),
      kernels_(kernels),
      noise_([](const at::Tensor& like) { return at::randn_like(like); }) {
  if (config.temporal_ensemble_coeff) ensembler_.emplace(*config.temporal_ensemble_coeff, config.chunk_size);
}

Loss ActPolicy::forward(const Batch& batch) {
  const std::int64_t b = batch_size(batch);
  const at::Tensor& actions = input(batch, kAction, {b, config_.chunk_size, inputs_.action});
  const at::Tensor& is_pad = input(batch, kActionIsPad, {b, config_.chunk_size});
  const TokenRows wanted = counted(is_pad);
  const Output output = run(batch, wanted);
  Loss loss;
  loss.total = wanted.are_all() ? masked_l1(actions, output.actions, is_pad)
                                : at::l1_loss(wanted.pack(actions.transpose(0, 1)).transpose(0, 1), output.actions);
  loss.parts.append("l1_loss", loss.total.detach());
  if (output.mu.defined()) {
    const at::Tensor kld = kl_divergence(output.mu, output.log_sigma_x2);
    loss.parts.append("kld_loss", kld.detach());
    loss.total = loss.total + kld * config_.kl_weight;
  }
  return loss;
}

TokenRows ActPolicy::counted(const at::Tensor& is_pad) const {
  return kernels_ == Kernels::kFast ? TokenRows(is_pad) : TokenRows();
}

ActPolicy::Output ActPolicy::run(const Batch& batch, const TokenRows& wanted) {
  const std::int64_t b = batch_size(batch);
  const std::unique_ptr<Pass> pass = make_pass(kernels_, training_, config_.dropout);
  Output output;
  at::Tensor latent;
  if (training_ && model_.vae) {
    std::tie(output.mu, output.log_sigma_x2) = encode_actions(batch, *pass);
    latent = output.mu + output.log_sigma_x2.div(2).exp() * noise_(output.mu);
  } else {
    latent = at::zeros({b, config_.latent_dim}, at::TensorOptions(device()).dtype(at::kFloat));
  }
  const Memory memory = encode_observations(batch, latent, *pass);
  output.actions = model_.action_head(decode(memory, b, wanted, *pass).transpose(0, 1));
  return output;
}

at::Tensor ActPolicy::decode(const Memory& memory, std::int64_t batch, const TokenRows& wanted, Pass& pass) const {
  const at::Tensor positions = model_.decoder_pos_embed.weight.unsqueeze(1);
  if (pass.leaves_out_dead_work()) return model_.decoder.from_zero(positions, memory, wanted, pass);
  const at::Tensor queries =
      at::zeros({config_.chunk_size, batch, config_.dim_model}, memory.positions.options().requires_grad(false));
  return model_.decoder(queries, positions, memory, pass);
}

std::pair<at::Tensor, at::Tensor> ActPolicy::encode_actions(const Batch& batch, Pass& pass) const {
  const VaeEncoder& vae = *model_.vae;
  const std::int64_t b = batch_size(batch);
  const at::Tensor& is_pad = input(batch, kActionIsPad, {b, config_.chunk_size});
  std::vector<at::Tensor> tokens{vae.cls_embed.weight.unsqueeze(0).expand({b, 1, config_.dim_model})};
  if (inputs_.state)
    tokens.push_back((*vae.robot_state_input_proj)(input(batch, kState, {b, *inputs_.state})).unsqueeze(1));
  const auto never_padded = static_cast<std::int64_t>(tokens.size());
  tokens.push_back(vae.action_input_proj(input(batch, kAction, {b, config_.chunk_size, inputs_.action})));

  const at::Tensor x = pass.arranged(at::cat(tokens, 1).permute({1, 0, 2})), positions = vae.pos_enc.permute({1, 0, 2});
  const at::Tensor padded = at::cat({at::zeros({b, never_padded}, is_pad.options()), is_pad}, 1);
  const at::Tensor encoded = pass.leaves_out_dead_work()
                                 ? vae.encoder.first_token(x, positions, padded, pass)
                                 : vae.encoder(x, positions, padding_mask(padded, config_.n_heads, at::kFloat), pass);
  const std::vector<at::Tensor> halves = vae.latent_output_proj(encoded[0]).chunk(2, 1);
  return {halves[0], halves[1]};
}

Memory ActPolicy::encode_observations(const Batch& batch, const at::Tensor& latent, Pass& pass) {
  const std::int64_t b = latent.size(0);
  std::vector<at::Tensor> vectors{model_.encoder_latent_input_proj(latent)};
  if (inputs_.state)
    vectors.push_back((*model_.encoder_robot_state_input_proj)(input(batch, kState, {b, *inputs_.state})));
  if (inputs_.environment_state) {
    const at::Tensor& state = input(batch, kEnvironmentState, {b, *inputs_.environment_state});
    vectors.push_back((*model_.encoder_env_state_input_proj)(state));
  }
  std::vector<at::Tensor> tokens{at::stack(vectors)};  // each (n, B, D)
  std::vector<at::Tensor> positions{model_.encoder_1d_feature_pos_embed.weight.unsqueeze(1)};
  for (const std::string& camera : inputs_.cameras) {
    const at::Tensor map = (*model_.backbone)(input(batch, camera, {b, 3, -1, -1}), pass);
    tokens.push_back((*model_.encoder_img_feat_input_proj)(map).flatten(2).permute({2, 0, 1}));
    positions.push_back(image_positions(map.size(2), map.size(3)));
  }
  const at::Tensor all_positions = at::cat(positions);
  return {model_.encoder(at::cat(tokens), all_positions, /*mask=*/{}, pass), all_positions};
}

const at::Tensor& ActPolicy::image_positions(std::int64_t height, std::int64_t columns) {
  at::Tensor& table = image_positions_[{height, columns}];
  if (!table.defined()) {
    table = sinusoidal_positions_2d(height, columns, config_.dim_model)
                .flatten(2)
                .permute({2, 0, 1})
                .contiguous()
                .to(device());
  }
  return table;
}

std::int64_t ActPolicy::batch_size(const Batch& batch) const {
  if (!inputs_.cameras.empty()) return input(batch, inputs_.cameras.front(), {-1, 3, -1, -1}).size(0);
  return input(batch, kEnvironmentState, {-1, *inputs_.environment_state}).size(0);
}

at::Tensor ActPolicy::predict_action_chunk(const Batch& batch) {
  const at::NoGradGuard no_grad;
  training_ = false;
  return run(batch, {}).actions;
}

at::Tensor ActPolicy::select_action(const Batch& batch) {
  const at::NoGradGuard no_grad;
  training_ = false;
  if (ensembler_) return ensembler_->update(predict_action_chunk(batch));
  if (queue_.empty()) {
    for (const at::Tensor& action : predict_action_chunk(batch).slice(1, 0, config_.n_action_steps).unbind(1)) {
      queue_.push_back(action);
    }
  }
  const at::Tensor action = queue_.front();
  queue_.pop_front();
  return action;
}

void ActPolicy::reset() {
  queue_.clear();
  if (ensembler_) ensembler_->reset();
}

std::vector<ParameterGroup> ActPolicy::optim_groups() const {
  std::vector<ParameterGroup> groups(2);
  groups[1].lr = config_.optimizer_lr_backbone;
  for (const auto& [name, tensor] : parameters()) {
    groups[name.starts_with("model.backbone") ? 1 : 0].parameters.emplace_back(name, tensor);
  }
  return groups;
}

void ActPolicy::load_backbone(const OrderedMap<at::Tensor>& weights) {
  const at::NoGradGuard no_grad;
  TensorVisitor copy([&](const std::string& name, at::Tensor& tensor, TensorVisitor::Kind) {
    const at::Tensor* stored = weights.find(name);
    if (stored == nullptr) {
      fail(ErrorKind::kConfig,
           "{}: found no such tensor in the backbone's weights, needed one. Use the weights of resnet18.", name);
    }
    if (stored->sizes() != tensor.sizes()) {
      fail(ErrorKind::kConfig, "{}: found shape {} in the backbone's weights, needed {}. Use the weights of resnet18.",
           name, shape_text(stored->sizes()), shape_text(tensor.sizes()));
    }
    tensor.copy_(*stored);
  });
  if (model_.backbone) model_.backbone->visit(copy);
  on_state_changed();
}

void ActPolicy::on_state_changed() {
  const at::NoGradGuard no_grad;
  if (model_.backbone) model_.backbone->fold();
  image_positions_.clear();
}

}  // namespace lerobot::policy
