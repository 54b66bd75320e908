#pragma once

#include <array>

#include "host/config/field.h"
#include "host/config/policy_config.h"

namespace lerobot::config {

template <>
struct Fields<PolicyFeature> {
  static constexpr auto list =
      std::tuple(effective("type", &PolicyFeature::type, "STATE, VISUAL, ENV, ACTION, REWARD or LANGUAGE").needed(),
                 effective("shape", &PolicyFeature::shape, "images are (channels, height, width)").needed());
};

template <>
struct Fields<PolicyCommon> {
  using Config = PolicyCommon;
  static constexpr auto list = std::tuple(
      effective("n_obs_steps", &Config::n_obs_steps, "observation steps the policy sees"),
      effective("input_features", &Config::input_features, "name to {type, shape}; empty: taken from the dataset"),
      effective("output_features", &Config::output_features, "name to {type, shape}; empty: taken from the dataset"),
      effective("device", &Config::device, "type or type:N of an installed plugin (lerobot-accel list); null: chosen"),
      default_only("use_amp", &Config::use_amp, "no trainer reads it: see --accelerator.mixed_precision"),
      default_only("use_peft", &Config::use_peft, "adapters"),
      default_only("push_to_hub", &Config::push_to_hub, "upload at the end; the default uploads nothing here")
          .or_off("false"),
      effective("repo_id", &Config::repo_id, "written to config.json"),
      effective("private", &Config::private_repo, "written to config.json"),
      effective("tags", &Config::tags, "written to config.json"),
      effective("license", &Config::license, "written to config.json"),
      effective("pretrained_path", &Config::pretrained_path,
                "directory or name on the hub whose model.safetensors is the start"),
      effective("pretrained_revision", &Config::pretrained_revision, "branch, tag or commit of a path on the hub"));
};

template <>
struct Fields<ActConfig> {
  using Config = ActConfig;
  static constexpr auto list = std::tuple_cat(
      Fields<PolicyCommon>::list,
      std::tuple(
          effective("chunk_size", &Config::chunk_size, "actions predicted at once"),
          effective("n_action_steps", &Config::n_action_steps, "actions used of each prediction"),
          effective("normalization_mapping", &Config::normalization_mapping, "feature type to normalization"),
          effective("vision_backbone", &Config::vision_backbone, "resnet18; other ResNets are not supported yet"),
          effective("pretrained_backbone_weights", &Config::pretrained_backbone_weights,
                    "torchvision's name of the weights, a .pth or .safetensors file, or null"),
          effective("replace_final_stride_with_dilation", &Config::replace_final_stride_with_dilation,
                    "only false: not supported yet"),
          effective("pre_norm", &Config::pre_norm, "normalize before, not after, each block"),
          effective("dim_model", &Config::dim_model, "width of the transformer"),
          effective("n_heads", &Config::n_heads, "attention heads; divides dim_model"),
          effective("dim_feedforward", &Config::dim_feedforward, "width of the feed-forward layers"),
          effective("feedforward_activation", &Config::feedforward_activation, "activation").one_of("relu|gelu|glu"),
          effective("n_encoder_layers", &Config::n_encoder_layers, "encoder layers"),
          effective("n_decoder_layers", &Config::n_decoder_layers, "decoder layers"),
          effective("use_vae", &Config::use_vae, "train with the variational objective"),
          effective("latent_dim", &Config::latent_dim, "width of the latent"),
          effective("n_vae_encoder_layers", &Config::n_vae_encoder_layers, "layers of the VAE's encoder"),
          effective("temporal_ensemble_coeff", &Config::temporal_ensemble_coeff,
                    "weights of temporal ensembling; needs n_action_steps=1"),
          effective("dropout", &Config::dropout, "dropout probability"),
          effective("kl_weight", &Config::kl_weight, "weight of the KL divergence"),
          effective("optimizer_lr", &Config::optimizer_lr, "preset: learning rate"),
          effective("optimizer_weight_decay", &Config::optimizer_weight_decay, "preset: weight decay"),
          effective("optimizer_lr_backbone", &Config::optimizer_lr_backbone, "preset: the backbone's learning rate")));
};

template <>
struct Fields<DiffusionConfig> {
  using Config = DiffusionConfig;
  static constexpr auto list = std::tuple_cat(
      Fields<PolicyCommon>::list,
      std::tuple(
          effective("horizon", &Config::horizon, "actions predicted at once"),
          effective("n_action_steps", &Config::n_action_steps, "actions used of each prediction"),
          effective("normalization_mapping", &Config::normalization_mapping, "feature type to normalization"),
          effective("drop_n_last_frames", &Config::drop_n_last_frames, "frames left out at each episode's end"),
          effective("vision_backbone", &Config::vision_backbone, "ResNet of the image encoder"),
          effective("resize_shape", &Config::resize_shape, "images are resized to (height, width)"),
          effective("crop_ratio", &Config::crop_ratio, "crop, as a ratio of resize_shape"),
          effective("crop_shape", &Config::crop_shape, "images are cropped to (height, width)"),
          effective("crop_is_random", &Config::crop_is_random, "random place of the crop in training"),
          effective("pretrained_backbone_weights", &Config::pretrained_backbone_weights, "as ACT's"),
          effective("use_group_norm", &Config::use_group_norm, "group norm in the backbone"),
          effective("spatial_softmax_num_keypoints", &Config::spatial_softmax_num_keypoints, "keypoints"),
          effective("use_separate_rgb_encoder_per_camera", &Config::use_separate_rgb_encoder_per_camera,
                    "one image encoder for each camera"),
          effective("down_dims", &Config::down_dims, "channels of the U-Net's stages"),
          effective("kernel_size", &Config::kernel_size, "kernel of the U-Net's convolutions"),
          effective("n_groups", &Config::n_groups, "groups of its group norms"),
          effective("diffusion_step_embed_dim", &Config::diffusion_step_embed_dim, "width of the step's embedding"),
          effective("use_film_scale_modulation", &Config::use_film_scale_modulation, "scale as well as bias"),
          effective("gradient_checkpointing", &Config::gradient_checkpointing, "recompute instead of keeping"),
          effective("noise_scheduler_type", &Config::noise_scheduler_type, "noise schedule").one_of("DDPM|DDIM"),
          effective("num_train_timesteps", &Config::num_train_timesteps, "diffusion steps in training"),
          effective("beta_schedule", &Config::beta_schedule, "shape of the noise"),
          effective("beta_start", &Config::beta_start, "first beta"),
          effective("beta_end", &Config::beta_end, "last beta"),
          effective("prediction_type", &Config::prediction_type, "what is predicted").one_of("epsilon|sample"),
          effective("clip_sample", &Config::clip_sample, "clip the sample at each step"),
          effective("clip_sample_range", &Config::clip_sample_range, "range of that clip"),
          effective("num_inference_steps", &Config::num_inference_steps, "diffusion steps in use"),
          effective("compile_model", &Config::compile_model, "torch.compile"),
          effective("compile_mode", &Config::compile_mode, "mode of torch.compile"),
          effective("do_mask_loss_for_padding", &Config::do_mask_loss_for_padding, "no loss on padded actions"),
          effective("optimizer_lr", &Config::optimizer_lr, "preset: learning rate"),
          effective("optimizer_betas", &Config::optimizer_betas, "preset: decay rates of the moments"),
          effective("optimizer_eps", &Config::optimizer_eps, "preset: epsilon"),
          effective("optimizer_weight_decay", &Config::optimizer_weight_decay, "preset: weight decay"),
          effective("scheduler_name", &Config::scheduler_name, "preset: name of the diffuser schedule"),
          effective("scheduler_warmup_steps", &Config::scheduler_warmup_steps, "preset: warm-up steps")));
};

template <>
struct Choice<PolicyConfig> {
  static constexpr std::string_view default_type = {};
  static constexpr std::string_view only_read = "diffusion";
  static constexpr std::array<std::string_view, 17> later{
      "eo1",        "evo1",           "groot", "molmoact2", "fastwam", "gaussian_actor",
      "lingbot_va", "multi_task_dit", "pi0",   "pi0_fast",  "pi05",    "smolvla",
      "tdmpc",      "vla_jepa",       "vqbet", "wall_x",    "xvla"};
};

}  // namespace lerobot::config
