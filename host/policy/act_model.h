#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/config/policy_config.h"
#include "host/policy/module.h"
#include "host/policy/resnet.h"
#include "host/policy/transformer.h"

namespace lerobot::policy {

inline constexpr char kState[] = "observation.state";
inline constexpr char kEnvironmentState[] = "observation.environment_state";
inline constexpr char kAction[] = "action";
inline constexpr char kActionIsPad[] = "action_is_pad";

/// Widths of ACT's inputs and output, from the configuration's features.
struct ActInputs {
  std::optional<std::int64_t> state, environment_state;
  std::vector<std::string> cameras;  // in the order of the configuration
  std::int64_t action = 0;
};

/// Checks the configuration. Throws Error(kConfig) naming the flag.
ActInputs check_act_config(const config::ActConfig& config);

/// The variational encoder of actions, used in training only.
struct VaeEncoder {
  at::Tensor pos_enc;  // (1, chunk + 2, D), or + 1 without a state
  Encoder encoder;
  Embedding cls_embed;
  std::optional<Linear> robot_state_input_proj;
  Linear action_input_proj;
  Linear latent_output_proj;  // D -> 2 latent

  VaeEncoder(const config::ActConfig& config, const ActInputs& inputs);
  void visit(TensorVisitor& visitor);
};

/// The parameters of ACT, drawn and listed in Python's order.
struct ActModel {
  std::optional<VaeEncoder> vae;
  std::optional<ResNet18> backbone;
  Encoder encoder;
  Decoder decoder;
  std::optional<Linear> encoder_robot_state_input_proj;
  std::optional<Linear> encoder_env_state_input_proj;
  Linear encoder_latent_input_proj;
  std::optional<PointwiseConv2d> encoder_img_feat_input_proj;
  Embedding encoder_1d_feature_pos_embed;
  Embedding decoder_pos_embed;
  Linear action_head;

  ActModel(const config::ActConfig& config, const ActInputs& inputs);
  void visit(TensorVisitor& visitor);
};

}  // namespace lerobot::policy
