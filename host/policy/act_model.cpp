#include "host/policy/act_model.h"

#include "host/base/error.h"
#include "host/policy/init.h"
#include "host/policy/position.h"
#include "host/policy/shape_text.h"

namespace lerobot::policy {
namespace {

using config::FeatureType;
using config::PolicyFeature;

TransformerShape transformer_shape(const config::ActConfig& config) {
  return {config.dim_model,       config.n_heads,
          config.dim_feedforward, config.feedforward_activation == "gelu" ? Activation::kGelu : Activation::kRelu,
          config.dropout,         config.pre_norm};
}

template <class Module, class... Args>
std::optional<Module> make_if(bool wanted, const Args&... args) {
  return wanted ? std::optional<Module>(std::in_place, args...) : std::nullopt;
}

std::optional<Linear> projection(const std::optional<std::int64_t>& in, std::int64_t out) {
  return make_if<Linear>(in.has_value(), in.value_or(0), out);
}

// The second pass of Python's constructor over the encoder and the decoder.
template <class Stack>
void draw_matrices_again(Stack& stack) {
  TensorVisitor matrices([](const std::string&, at::Tensor& tensor, TensorVisitor::Kind) {
    if (tensor.dim() > 1) xavier_uniform(tensor);
  });
  stack.visit(matrices);
}

std::int64_t vector_width(const std::string& name, const PolicyFeature& feature) {
  if (feature.shape.size() != 1) {
    fail(ErrorKind::kConfig, "{}: found shape {}, needed one dimension. ACT takes vectors here.", name,
         shape_text(feature.shape));
  }
  return feature.shape[0];
}

void check_camera(const std::string& name, const PolicyFeature& feature) {
  if (feature.shape.size() != 3 || feature.shape[0] != 3) {
    fail(ErrorKind::kConfig, "{}: found shape {}, needed (3, height, width). resnet18 takes colour images.", name,
         shape_text(feature.shape));
  }
}

void check_at_least(std::string_view flag, std::int64_t value, std::int64_t least) {
  if (value < least) fail(ErrorKind::kConfig, "--policy.{}: found {}, needed {} or more.", flag, value, least);
}

void check_settings(const config::ActConfig& config) {
  for (const auto& [flag, value] :
       {std::pair("chunk_size", config.chunk_size), std::pair("n_action_steps", config.n_action_steps),
        std::pair("dim_model", config.dim_model), std::pair("n_heads", config.n_heads),
        std::pair("dim_feedforward", config.dim_feedforward), std::pair("latent_dim", config.latent_dim)}) {
    check_at_least(flag, value, 1);
  }
  for (const auto& [flag, value] :
       {std::pair("n_encoder_layers", config.n_encoder_layers), std::pair("n_decoder_layers", config.n_decoder_layers),
        std::pair("n_vae_encoder_layers", config.n_vae_encoder_layers)}) {
    check_at_least(flag, value, 0);
  }
  if (config.n_obs_steps != 1)
    fail(ErrorKind::kConfig, "--policy.n_obs_steps: found {}, needed 1 for ACT.", config.n_obs_steps);
  if (config.n_action_steps > config.chunk_size) {
    fail(ErrorKind::kConfig, "--policy.n_action_steps: found {}, needed at most --policy.chunk_size={}.",
         config.n_action_steps, config.chunk_size);
  }
  if (config.temporal_ensemble_coeff && config.n_action_steps != 1) {
    fail(ErrorKind::kConfig, "--policy.n_action_steps: found {}, needed 1 with --policy.temporal_ensemble_coeff.",
         config.n_action_steps);
  }
  // A quarter of the width each: sines and cosines, for y and x.
  if (config.dim_model % 4 != 0 || config.dim_model % config.n_heads != 0) {
    fail(ErrorKind::kConfig, "--policy.dim_model: found {}, needed a multiple of 4 and of --policy.n_heads={}.",
         config.dim_model, config.n_heads);
  }
  if (config.feedforward_activation != "relu" && config.feedforward_activation != "gelu") {
    fail(ErrorKind::kConfig, "--policy.feedforward_activation: found {}, needed relu or gelu.",
         config.feedforward_activation);
  }
  if (!(config.dropout >= 0 && config.dropout < 1)) {
    fail(ErrorKind::kConfig, "--policy.dropout: found {}, needed 0 or more and less than 1.", config.dropout);
  }
  if (config.replace_final_stride_with_dilation != 0) {
    fail(ErrorKind::kConfig,
         "--policy.replace_final_stride_with_dilation: found true, needed false. resnet18 cannot be dilated.");
  }
  if (config.vision_backbone != "resnet18") {
    fail(ErrorKind::kConfig, "--policy.vision_backbone: found {}, needed resnet18.", config.vision_backbone);
  }
}

}  // namespace

ActInputs check_act_config(const config::ActConfig& config) {
  check_settings(config);
  ActInputs inputs;
  for (const auto& [name, feature] : config.input_features) {
    if (feature.type == FeatureType::kVisual) {
      check_camera(name, feature);
      inputs.cameras.push_back(name);
    } else if (name == kState && feature.type == FeatureType::kState) {
      inputs.state = vector_width(name, feature);
    } else if (name == kEnvironmentState && feature.type == FeatureType::kEnv) {
      inputs.environment_state = vector_width(name, feature);
    }
  }
  if (inputs.cameras.empty() && !inputs.environment_state) {
    fail(ErrorKind::kConfig, "input features: found neither a camera nor {}, needed one of them for ACT.",
         kEnvironmentState);
  }
  const PolicyFeature* action = config.output_features.find(kAction);
  if (action == nullptr) fail(ErrorKind::kConfig, "output features: found no {}, needed one.", kAction);
  inputs.action = vector_width(kAction, *action);
  return inputs;
}

VaeEncoder::VaeEncoder(const config::ActConfig& config, const ActInputs& inputs)
    : pos_enc(sinusoidal_positions(config.chunk_size + (inputs.state ? 2 : 1), config.dim_model).unsqueeze(0)),
      encoder(config.n_vae_encoder_layers, transformer_shape(config)),
      cls_embed(1, config.dim_model),
      robot_state_input_proj(projection(inputs.state, config.dim_model)),
      action_input_proj(inputs.action, config.dim_model),
      latent_output_proj(config.dim_model, 2 * config.latent_dim) {}

void VaeEncoder::visit(TensorVisitor& visitor) {
  visitor.buffer("vae_encoder_pos_enc", pos_enc);
  visitor.child("vae_encoder", encoder);
  visitor.child("vae_encoder_cls_embed", cls_embed);
  visitor.child("vae_encoder_robot_state_input_proj", robot_state_input_proj);
  visitor.child("vae_encoder_action_input_proj", action_input_proj);
  visitor.child("vae_encoder_latent_output_proj", latent_output_proj);
}

ActModel::ActModel(const config::ActConfig& config, const ActInputs& inputs)
    : vae(make_if<VaeEncoder>(config.use_vae, config, inputs)),
      backbone(make_if<ResNet18>(!inputs.cameras.empty())),
      encoder(config.n_encoder_layers, transformer_shape(config)),
      decoder(config.n_decoder_layers, transformer_shape(config)),
      encoder_robot_state_input_proj(projection(inputs.state, config.dim_model)),
      encoder_env_state_input_proj(projection(inputs.environment_state, config.dim_model)),
      encoder_latent_input_proj(config.latent_dim, config.dim_model),
      encoder_img_feat_input_proj(
          make_if<PointwiseConv2d>(!inputs.cameras.empty(), ResNet18::kChannels, config.dim_model)),
      encoder_1d_feature_pos_embed(1 + inputs.state.has_value() + inputs.environment_state.has_value(),
                                   config.dim_model),
      decoder_pos_embed(config.chunk_size, config.dim_model),
      action_head(config.dim_model, inputs.action) {
  draw_matrices_again(encoder);
  draw_matrices_again(decoder);
}

void ActModel::visit(TensorVisitor& visitor) {
  if (vae) vae->visit(visitor);
  visitor.child("backbone", backbone);
  visitor.child("encoder", encoder);
  visitor.child("decoder", decoder);
  visitor.child("encoder_robot_state_input_proj", encoder_robot_state_input_proj);
  visitor.child("encoder_env_state_input_proj", encoder_env_state_input_proj);
  visitor.child("encoder_latent_input_proj", encoder_latent_input_proj);
  visitor.child("encoder_img_feat_input_proj", encoder_img_feat_input_proj);
  visitor.child("encoder_1d_feature_pos_embed", encoder_1d_feature_pos_embed);
  visitor.child("decoder_pos_embed", decoder_pos_embed);
  visitor.child("action_head", action_head);
}

}  // namespace lerobot::policy
