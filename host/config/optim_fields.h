#pragma once

#include <array>

#include "host/config/field.h"
#include "host/config/optim_config.h"

namespace lerobot::config {

template <>
struct Fields<AdamConfig> {
  static constexpr auto list =
      std::tuple(effective("lr", &AdamConfig::lr, "learning rate"),
                 effective("weight_decay", &AdamConfig::weight_decay, "L2 penalty"),
                 effective("grad_clip_norm", &AdamConfig::grad_clip_norm, "largest gradient norm; 0 does not clip"),
                 effective("betas", &AdamConfig::betas, "decay rates of the two moments"),
                 effective("eps", &AdamConfig::eps, "added to the denominator"));
};

template <>
struct Fields<AdamWConfig> {
  static constexpr auto list =
      std::tuple(effective("lr", &AdamWConfig::lr, "learning rate"),
                 effective("weight_decay", &AdamWConfig::weight_decay, "decoupled weight decay"),
                 effective("grad_clip_norm", &AdamWConfig::grad_clip_norm, "largest gradient norm; 0 does not clip"),
                 effective("betas", &AdamWConfig::betas, "decay rates of the two moments"),
                 effective("eps", &AdamWConfig::eps, "added to the denominator"));
};

template <>
struct Fields<SgdConfig> {
  static constexpr auto list =
      std::tuple(effective("lr", &SgdConfig::lr, "learning rate"),
                 effective("weight_decay", &SgdConfig::weight_decay, "L2 penalty"),
                 effective("grad_clip_norm", &SgdConfig::grad_clip_norm, "largest gradient norm; 0 does not clip"),
                 effective("momentum", &SgdConfig::momentum, "momentum factor"),
                 effective("dampening", &SgdConfig::dampening, "dampening of the momentum"),
                 effective("nesterov", &SgdConfig::nesterov, "Nesterov momentum"));
};

template <>
struct Fields<DiffuserSchedulerConfig> {
  static constexpr auto list = std::tuple(
      effective("num_warmup_steps", &DiffuserSchedulerConfig::num_warmup_steps, "steps of linear warm-up"),
      effective("name", &DiffuserSchedulerConfig::name, "shape of the schedule")
          .one_of("cosine|linear|cosine_with_restarts|polynomial|constant|constant_with_warmup|piecewise_constant",
                  "piecewise_constant"));
};

template <>
struct Fields<VqBetSchedulerConfig> {
  static constexpr auto list = std::tuple(
      effective("num_warmup_steps", &VqBetSchedulerConfig::num_warmup_steps, "steps of linear warm-up").needed(),
      effective("num_vqvae_training_steps", &VqBetSchedulerConfig::num_vqvae_training_steps, "steps at the full rate")
          .needed(),
      effective("num_cycles", &VqBetSchedulerConfig::num_cycles, "cosine cycles"));
};

template <>
struct Fields<ConstantWithWarmupSchedulerConfig> {
  static constexpr auto list = std::tuple(
      effective("num_warmup_steps", &ConstantWithWarmupSchedulerConfig::num_warmup_steps, "steps of linear warm-up"));
};

template <>
struct Fields<CosineAnnealingWithWarmupSchedulerConfig> {
  static constexpr auto list =
      std::tuple(effective("num_warmup_steps", &CosineAnnealingWithWarmupSchedulerConfig::num_warmup_steps,
                           "steps of linear warm-up")
                     .needed());
};

template <>
struct Fields<CosineDecayWithWarmupSchedulerConfig> {
  using Config = CosineDecayWithWarmupSchedulerConfig;
  static constexpr auto list =
      std::tuple(effective("num_warmup_steps", &Config::num_warmup_steps, "steps of linear warm-up").needed(),
                 effective("num_decay_steps", &Config::num_decay_steps, "steps of decay").needed(),
                 effective("peak_lr", &Config::peak_lr, "with decay_lr: the ratio the rate decays to").needed(),
                 effective("decay_lr", &Config::decay_lr, "with peak_lr: the ratio the rate decays to").needed());
};

template <>
struct Choice<OptimizerConfig> {
  static constexpr std::string_view default_type = "adam";
  static constexpr std::string_view only_read = {};
  static constexpr std::array<std::string_view, 3> later{"xvla-adamw", "multi_adam", "molmoact2_adamw"};
};

template <>
struct Choice<SchedulerConfig> {
  static constexpr std::string_view default_type = {};
  static constexpr std::string_view only_read = {};
  static constexpr std::array<std::string_view, 1> later{"molmoact2_cosine_with_warmup"};
};

}  // namespace lerobot::config
