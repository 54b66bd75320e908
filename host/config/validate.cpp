#include "host/config/validate.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>

#include "host/base/format.h"
#include "host/base/json.h"
#include "host/base/text.h"
#include "host/config/grad_scaler_rules.h"

namespace lerobot::config {
namespace {

constexpr std::int64_t kMaxSeed = 4294967295;

/// Range checks with one form of message.
class Checker {
 public:
  explicit Checker(const Settings& settings) : settings_(settings) {}

  void at_least(std::string_view path, std::int64_t value, std::int64_t least) const {
    if (value < least) settings_.refuse(path, format("found {}, needed {} or more.", value, least));
  }
  /// In [low, high], or [low, high) when `open`. Not NaN.
  void within(std::string_view path, double value, double low, double high, bool open = false) const {
    if (value >= low && (open ? value < high : value <= high)) return;
    settings_.refuse(path, format("found {}, needed a number from {} to {}{}.", json::float_repr(value),
                                  json::float_repr(low), json::float_repr(high), open ? " (exclusive)" : ""));
  }
  void finite_not_negative(std::string_view path, double value) const {
    if (!(value >= 0 && std::isfinite(value))) {
      settings_.refuse(path, format("found {}, needed a finite number, 0 or more.", json::float_repr(value)));
    }
  }
  /// 0 or more, inf included.
  void not_negative(std::string_view path, double value) const {
    if (!(value >= 0)) settings_.refuse(path, format("found {}, needed 0 or more.", json::float_repr(value)));
  }
  void require(bool holds, std::string_view path, const std::string& message) const {
    if (!holds) settings_.refuse(path, message);
  }

 private:
  const Settings& settings_;
};

void check_episodes(const Checker& check, const std::string& path,
                    const std::optional<std::vector<std::int64_t>>& list) {
  std::set<std::int64_t> seen;
  for (const std::int64_t episode : list.value_or(std::vector<std::int64_t>{})) {
    check.require(episode >= 0, path, format("found {}, needed episode numbers of 0 or more.", episode));
    check.require(seen.insert(episode).second, path, format("found {} twice, needed each episode once.", episode));
  }
}

void check_numbers(const Checker& check, const TrainConfig& config) {
  check.at_least("batch_size", config.batch_size, 1);
  check.at_least("steps", config.steps, 0);
  check.at_least("num_workers", config.num_workers, 0);
  if (config.num_workers > 0) check.at_least("prefetch_factor", config.prefetch_factor, 1);
  if (config.seed) {
    check.require(*config.seed >= 0 && *config.seed <= kMaxSeed, "seed",
                  format("found {}, needed 0 to {}, or null.", *config.seed, kMaxSeed));
  }
  check.not_negative("tolerance_s", config.tolerance_s);
  check.at_least("accelerator.gradient_accumulation.steps", config.accelerator.gradient_accumulation.steps, 1);
  check_episodes(check, "dataset.episodes", config.dataset.episodes);
  check.require(!config.eval.recording_repo_id || config.eval.recording, "eval.recording_repo_id",
                "needs --eval.recording=true.");
}

void check_held_out(const Checker& check, const TrainConfig& config) {
  check.within("dataset.eval_split", config.dataset.eval_split, 0, 1, true);
  check.require(
      config.eval_steps <= 0 || config.dataset.eval_split > 0, "eval_steps",
      format("found {}, and no episodes are held out (dataset.eval_split is 0.0). Add --dataset.eval_split=0.1, "
             "or leave out --eval_steps.",
             config.eval_steps));
}

void check_ema(const Checker& check, const EmaConfig& ema) {
  if (ema.decay) check.within("ema.decay", *ema.decay, 0, 1);
  check.at_least("ema.update_after_step", ema.update_after_step, 0);
  check.require(ema.inv_gamma > 0, "ema.inv_gamma", "needed a number above 0.");
  check.require(ema.power > 0, "ema.power", "needed a number above 0.");
  check.within("ema.max_decay", ema.max_decay, 0, 1);
  check.within("ema.min_decay", ema.min_decay, 0, ema.max_decay);
  const bool is_default = ema.min_decay == EmaConfig{}.min_decay && ema.max_decay == EmaConfig{}.max_decay;
  check.require(!ema.decay || is_default, "ema.decay",
                "found beside ema.min_decay or ema.max_decay, needed one of the two.");
}

/// The ranges of newer LeRobot releases. A scaler belongs to fp16: what a user sets for it elsewhere would do nothing.
void check_grad_scaler(const Settings& settings, const Checker& check, const AcceleratorConfig& accelerator) {
  const GradScalerConfig& scaler = accelerator.grad_scaler;
  std::string path = "accelerator.grad_scaler";
  const Node* typed = settings.typed.find(path);
  const bool in_users_file = settings.strictness == Strictness::kStrict && !(scaler == GradScalerConfig{});
  if (accelerator.mixed_precision != "fp16" && (typed || in_users_file)) {
    if (typed && typed->map() && !typed->map()->empty()) path = join_path(path, typed->map()->front().key);
    settings.refuse(path, format("only read with fp16, and accelerator.mixed_precision is {}. Leave it out, or add "
                                 "--accelerator.mixed_precision=fp16.",
                                 accelerator.mixed_precision));
  }
  check.require(
      is_loss_scale(scaler.init_scale), "accelerator.grad_scaler.init_scale",
      format("found {}, needed a number above 0 that float32 can hold.", json::float_repr(scaler.init_scale)));
  check.require(is_growth_factor(scaler.growth_factor), "accelerator.grad_scaler.growth_factor",
                format("found {}, needed a finite number above 1.", json::float_repr(scaler.growth_factor)));
  check.require(is_backoff_factor(scaler.backoff_factor), "accelerator.grad_scaler.backoff_factor",
                format("found {}, needed a number between 0 and 1.", json::float_repr(scaler.backoff_factor)));
  check.require(scaler.growth_interval >= 1 && scaler.growth_interval <= kMaxGrowthInterval,
                "accelerator.grad_scaler.growth_interval",
                format("found {}, needed 1 to {}.", scaler.growth_interval, kMaxGrowthInterval));
}

void check_adam(const Checker& check, const std::array<double, 2>& betas, double eps) {
  for (const double beta : betas) check.within("optimizer.betas", beta, 0, 1, true);
  check.finite_not_negative("optimizer.eps", eps);
}

void check_optimizer(const Checker& check, const OptimizerConfig& optimizer) {
  std::visit(
      [&](const auto& choice) {
        check.finite_not_negative("optimizer.lr", choice.lr);
        check.finite_not_negative("optimizer.weight_decay", choice.weight_decay);
        check.not_negative("optimizer.grad_clip_norm", choice.grad_clip_norm);
        if constexpr (requires { choice.betas; }) {
          check_adam(check, choice.betas, choice.eps);
        } else {
          check.finite_not_negative("optimizer.momentum", choice.momentum);
          check.require(std::isfinite(choice.dampening), "optimizer.dampening", "needed a finite number.");
          check.require(!choice.nesterov || (choice.momentum > 0 && choice.dampening == 0), "optimizer.nesterov",
                        "needs momentum above 0 and dampening 0.");
        }
      },
      optimizer);
}

void check_scheduler(const Checker& check, const SchedulerConfig& scheduler) {
  std::visit(
      [&](const auto& choice) {
        if constexpr (requires { choice.name; }) {
          check.require(choice.num_warmup_steps || choice.name == "constant", "scheduler.num_warmup_steps",
                        format("found null, and the schedule {} needs a number.", choice.name));
          check.at_least("scheduler.num_warmup_steps", choice.num_warmup_steps.value_or(0), 0);
        } else {
          check.at_least("scheduler.num_warmup_steps", choice.num_warmup_steps, 0);
        }
        if constexpr (requires { choice.num_cycles; }) {
          check.at_least("scheduler.num_vqvae_training_steps", choice.num_vqvae_training_steps, 0);
          check.finite_not_negative("scheduler.num_cycles", choice.num_cycles);
        }
        if constexpr (requires { choice.peak_lr; }) {
          check.at_least("scheduler.num_decay_steps", choice.num_decay_steps, 1);
          check.require(choice.peak_lr > 0 && std::isfinite(choice.peak_lr), "scheduler.peak_lr",
                        format("found {}, needed a finite number above 0.", json::float_repr(choice.peak_lr)));
          check.finite_not_negative("scheduler.decay_lr", choice.decay_lr);
        }
      },
      scheduler);
}

void check_act(const Checker& check, const ActConfig& act) {
  check.require(act.n_obs_steps == 1, "policy.n_obs_steps",
                format("found {}, needed 1: act sees one step.", act.n_obs_steps));
  check.at_least("policy.chunk_size", act.chunk_size, 1);
  check.at_least("policy.n_action_steps", act.n_action_steps, 1);
  check.require(act.n_action_steps <= act.chunk_size, "policy.n_action_steps",
                format("found {}, needed chunk_size ({}) or less. Set both.", act.n_action_steps, act.chunk_size));
  check.require(!act.temporal_ensemble_coeff || act.n_action_steps == 1, "policy.temporal_ensemble_coeff",
                format("needs n_action_steps 1, found {}. Add --policy.n_action_steps=1.", act.n_action_steps));
  if (act.temporal_ensemble_coeff) {
    check.require(std::isfinite(*act.temporal_ensemble_coeff), "policy.temporal_ensemble_coeff",
                  "needed a finite number.");
  }
  check.require(act.vision_backbone == "resnet18", "policy.vision_backbone",
                act.vision_backbone.starts_with("resnet")
                    ? format("found {}, which is not supported yet, needed resnet18.", act.vision_backbone)
                    : format("found {}, needed a ResNet: resnet18.", act.vision_backbone));
  check.require(act.replace_final_stride_with_dilation == 0, "policy.replace_final_stride_with_dilation",
                "found true, which is not supported yet, needed false.");
  check.at_least("policy.dim_model", act.dim_model, 1);
  check.at_least("policy.n_heads", act.n_heads, 1);
  check.require(act.dim_model % act.n_heads == 0, "policy.dim_model",
                format("found {}, needed a multiple of n_heads ({}).", act.dim_model, act.n_heads));
  check.require(act.dim_model % 2 == 0, "policy.dim_model", format("found {}, needed an even number.", act.dim_model));
  check.at_least("policy.dim_feedforward", act.dim_feedforward, 1);
  check.at_least("policy.n_encoder_layers", act.n_encoder_layers, 0);
  check.at_least("policy.n_decoder_layers", act.n_decoder_layers, 1);
  check.at_least("policy.latent_dim", act.latent_dim, 1);
  check.at_least("policy.n_vae_encoder_layers", act.n_vae_encoder_layers, 0);
  check.within("policy.dropout", act.dropout, 0, 1);
  check.finite_not_negative("policy.kl_weight", act.kl_weight);
  check.finite_not_negative("policy.optimizer_lr", act.optimizer_lr);
  check.finite_not_negative("policy.optimizer_weight_decay", act.optimizer_weight_decay);
  check.finite_not_negative("policy.optimizer_lr_backbone", act.optimizer_lr_backbone);
}

void check_policy(const Settings& settings, const Checker& check, const TrainConfig& config) {
  const PolicyConfig& policy = *config.policy;
  if (std::holds_alternative<DiffusionConfig>(policy)) {
    settings.refuse("policy.type", "found diffusion, which cannot be trained yet, needed act.");
  }
  check_act(check, std::get<ActConfig>(policy));
  check.require(config.rename_map.empty() || common(policy).pretrained_path, "rename_map",
                "needs pretrained weights: there is nothing to rename for a new policy. Add --policy.path.");
  const Node* push = settings.merged.find("policy.push_to_hub");
  const bool is_strict = push && (push->is_typed() || settings.strictness == Strictness::kStrict);
  check.require(!(is_strict && common(policy).push_to_hub), "policy.push_to_hub",
                "found true, which is not supported yet. Leave it out.");
}

}  // namespace

void validate(const Settings& settings, const TrainConfig& config) {
  const Checker check(settings);
  check_numbers(check, config);
  check_held_out(check, config);
  check_ema(check, config.ema);
  check_grad_scaler(settings, check, config.accelerator);
  check_policy(settings, check, config);
  if (config.optimizer) check_optimizer(check, *config.optimizer);
  if (config.scheduler) check_scheduler(check, *config.scheduler);
}

void check_output_directory(const Settings& settings, const std::string& directory) {
  namespace fs = std::filesystem;
  const fs::path path = directory;
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) {
    settings.refuse("output_dir", format("found {}, which is a file, needed a directory.", shell_quote(directory)));
  }
  if (fs::is_directory(path, error) && !fs::is_empty(path, error) && !error) {
    settings.refuse(
        "output_dir",
        format("found {}, which has files in it already. Give another directory, or continue the run in it with "
               "--resume=true --config_path={}.",
               shell_quote(directory), shell_quote(directory)));
  }
  fs::path existing = fs::absolute(path, error);
  while (!fs::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
  if (access(existing.c_str(), W_OK) != 0) {
    settings.refuse("output_dir", format("found {}, and {} cannot be written to. Give another directory.",
                                         shell_quote(directory), shell_quote(existing.string())));
  }
}

}  // namespace lerobot::config
