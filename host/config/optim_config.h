#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace lerobot::config {

struct AdamConfig {
  static constexpr std::string_view kType = "adam";
  double lr = 1e-3;
  double weight_decay = 0.0;
  double grad_clip_norm = 10.0;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
};

struct AdamWConfig {
  static constexpr std::string_view kType = "adamw";
  double lr = 1e-3;
  double weight_decay = 1e-2;
  double grad_clip_norm = 10.0;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
};

struct SgdConfig {
  static constexpr std::string_view kType = "sgd";
  double lr = 1e-3;
  double weight_decay = 0.0;
  double grad_clip_norm = 10.0;
  double momentum = 0.0;
  double dampening = 0.0;
  bool nesterov = false;
};

using OptimizerConfig = std::variant<AdamConfig, AdamWConfig, SgdConfig>;

struct DiffuserSchedulerConfig {
  static constexpr std::string_view kType = "diffuser";
  std::optional<std::int64_t> num_warmup_steps;
  std::string name = "cosine";
};

struct VqBetSchedulerConfig {
  static constexpr std::string_view kType = "vqbet";
  std::int64_t num_warmup_steps = 0;
  std::int64_t num_vqvae_training_steps = 0;
  double num_cycles = 0.5;
};

struct ConstantWithWarmupSchedulerConfig {
  static constexpr std::string_view kType = "constant_with_warmup";
  std::int64_t num_warmup_steps = 1000;
};

struct CosineAnnealingWithWarmupSchedulerConfig {
  static constexpr std::string_view kType = "cosine_annealing_with_warmup";
  std::int64_t num_warmup_steps = 0;
};

struct CosineDecayWithWarmupSchedulerConfig {
  static constexpr std::string_view kType = "cosine_decay_with_warmup";
  std::int64_t num_warmup_steps = 0;
  std::int64_t num_decay_steps = 0;
  double peak_lr = 0;
  double decay_lr = 0;
};

using SchedulerConfig = std::variant<DiffuserSchedulerConfig, VqBetSchedulerConfig, ConstantWithWarmupSchedulerConfig,
                                     CosineAnnealingWithWarmupSchedulerConfig, CosineDecayWithWarmupSchedulerConfig>;

}  // namespace lerobot::config
