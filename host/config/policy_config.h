#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/base/ordered_map.h"

namespace lerobot::config {

enum class FeatureType { kState, kVisual, kEnv, kAction, kReward, kLanguage };
enum class NormalizationMode { kMinMax, kMeanStd, kIdentity, kQuantiles, kQuantile10 };

/// Names as LeRobot writes them: STATE, VISUAL, ..., MIN_MAX, MEAN_STD, ...
std::string_view name(FeatureType type);
std::string_view name(NormalizationMode mode);
std::optional<FeatureType> feature_type_from(std::string_view name);
std::optional<NormalizationMode> normalization_mode_from(std::string_view name);

/// One input or output of a policy. Images are (C, H, W).
struct PolicyFeature {
  FeatureType type = FeatureType::kState;
  std::vector<std::int64_t> shape;
  bool operator==(const PolicyFeature&) const = default;
};
using Features = OrderedMap<PolicyFeature>;
/// Feature-type name (VISUAL, STATE, ...) to mode; a type without an entry is left as it is (IDENTITY).
using NormalizationMap = OrderedMap<NormalizationMode>;

inline constexpr std::string_view kImageNetWeights = "ResNet18_Weights.IMAGENET1K_V1";

/// An int that LeRobot declares with a boolean default: false in a fresh file, a number once it has been set or read.
class IntDefaultFalse {
 public:
  IntDefaultFalse() = default;
  IntDefaultFalse(std::int64_t value) : value_(value), set_(true) {}
  operator std::int64_t() const { return value_; }
  std::int64_t get() const { return value_; }
  bool is_set() const { return set_; }

 private:
  std::int64_t value_ = 0;
  bool set_ = false;
};

/// What every policy has, in the order of config.json.
struct PolicyCommon {
  std::int64_t n_obs_steps = 1;
  Features input_features;
  Features output_features;
  std::optional<std::string> device;
  bool use_amp = false;
  bool use_peft = false;
  bool push_to_hub = true;
  std::optional<std::string> repo_id;
  std::optional<bool> private_repo;  // key "private"
  std::optional<std::vector<std::string>> tags;
  std::optional<std::string> license;
  std::optional<std::string> pretrained_path;
  std::optional<std::string> pretrained_revision;
};

struct ActConfig : PolicyCommon {
  static constexpr std::string_view kType = "act";

  std::int64_t chunk_size = 100;
  std::int64_t n_action_steps = 100;
  NormalizationMap normalization_mapping{{"VISUAL", NormalizationMode::kMeanStd},
                                         {"STATE", NormalizationMode::kMeanStd},
                                         {"ACTION", NormalizationMode::kMeanStd}};
  std::string vision_backbone = "resnet18";
  std::optional<std::string> pretrained_backbone_weights = std::string(kImageNetWeights);
  IntDefaultFalse replace_final_stride_with_dilation;
  bool pre_norm = false;
  std::int64_t dim_model = 512;
  std::int64_t n_heads = 8;
  std::int64_t dim_feedforward = 3200;
  std::string feedforward_activation = "relu";
  std::int64_t n_encoder_layers = 4;
  std::int64_t n_decoder_layers = 1;
  bool use_vae = true;
  std::int64_t latent_dim = 32;
  std::int64_t n_vae_encoder_layers = 4;
  std::optional<double> temporal_ensemble_coeff;
  double dropout = 0.1;
  double kl_weight = 10.0;
  double optimizer_lr = 1e-5;
  double optimizer_weight_decay = 1e-4;
  double optimizer_lr_backbone = 1e-5;
};

struct DiffusionConfig : PolicyCommon {
  static constexpr std::string_view kType = "diffusion";
  DiffusionConfig() { n_obs_steps = 2; }

  std::int64_t horizon = 64;
  std::int64_t n_action_steps = 32;
  NormalizationMap normalization_mapping{{"VISUAL", NormalizationMode::kMeanStd},
                                         {"STATE", NormalizationMode::kMinMax},
                                         {"ACTION", NormalizationMode::kMinMax}};
  std::int64_t drop_n_last_frames = 7;
  std::string vision_backbone = "resnet18";
  std::optional<std::vector<std::int64_t>> resize_shape;
  double crop_ratio = 1.0;
  std::optional<std::vector<std::int64_t>> crop_shape;
  bool crop_is_random = true;
  std::optional<std::string> pretrained_backbone_weights = std::string(kImageNetWeights);
  bool use_group_norm = false;
  std::int64_t spatial_softmax_num_keypoints = 32;
  bool use_separate_rgb_encoder_per_camera = true;
  std::vector<std::int64_t> down_dims{512, 1024, 2048};
  std::int64_t kernel_size = 5;
  std::int64_t n_groups = 8;
  std::int64_t diffusion_step_embed_dim = 128;
  bool use_film_scale_modulation = true;
  bool gradient_checkpointing = false;
  std::string noise_scheduler_type = "DDPM";
  std::int64_t num_train_timesteps = 100;
  std::string beta_schedule = "squaredcos_cap_v2";
  double beta_start = 1e-4;
  double beta_end = 0.02;
  std::string prediction_type = "epsilon";
  bool clip_sample = true;
  double clip_sample_range = 1.0;
  std::optional<std::int64_t> num_inference_steps;
  bool compile_model = false;
  std::string compile_mode = "reduce-overhead";
  bool do_mask_loss_for_padding = false;
  double optimizer_lr = 1e-4;
  std::vector<double> optimizer_betas{0.95, 0.999};
  double optimizer_eps = 1e-8;
  double optimizer_weight_decay = 1e-6;
  std::string scheduler_name = "cosine";
  std::int64_t scheduler_warmup_steps = 500;
};

using PolicyConfig = std::variant<ActConfig, DiffusionConfig>;

PolicyCommon& common(PolicyConfig& policy);
const PolicyCommon& common(const PolicyConfig& policy);
/// "act", "diffusion".
std::string_view type_name(const PolicyConfig& policy);
const NormalizationMap& normalization_mapping(const PolicyConfig& policy);

}  // namespace lerobot::config
