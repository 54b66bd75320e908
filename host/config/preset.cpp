#include "host/config/preset.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/base/log.h"
#include "host/config/train_fields.h"

namespace lerobot::config {
namespace {

constexpr double kPresetClipNorm = 10.0;

/// A field of the policy that its preset copies, and where to.
struct PresetField {
  std::string_view policy;
  std::string_view target;
};
constexpr PresetField kPresetFields[] = {
    {"policy.optimizer_lr", "optimizer.lr"},       {"policy.optimizer_weight_decay", "optimizer.weight_decay"},
    {"policy.optimizer_betas", "optimizer.betas"}, {"policy.optimizer_eps", "optimizer.eps"},
    {"policy.scheduler_name", "scheduler.name"},   {"policy.scheduler_warmup_steps", "scheduler.num_warmup_steps"}};

const Node* given(const Node& root, std::string_view name) {
  const Node* node = root.find(name);
  return node && !node->is_null() ? node : nullptr;
}

bool same_value(const Node& a, const Node& b) {
  bj::value left = to_json(a);
  bj::value right = to_json(b);
  for (bj::value* value : {&left, &right}) {
    if (value->is_int64()) *value = static_cast<double>(value->get_int64());
  }
  return left == right;
}

/// A preset with what was typed over it.
template <class Variant>
std::optional<Variant> over_preset(const Settings& settings, const std::string& name, std::optional<Variant> preset) {
  const Node* typed = settings.typed.find(name);
  if (!typed) return preset;
  if (typed->is_null()) return std::nullopt;
  Node node = preset ? from_json(encode(*preset)) : empty_map(Node::Origin::kTyped);
  if (const Node* type = typed->find("type"); type && preset && !same_value(*type, *node.find("type"))) {
    settings.refuse(name + ".type",
                    format("found {}, but the policy's preset is {}. Add --use_policy_training_preset=false.",
                           describe(*type), describe(*node.find("type"))));
  }
  merge(node, *typed);
  std::optional<Variant> out;
  Decoder(settings.file_name, settings.strictness).read(node, name, out);
  return out;
}

/// What a file says beside the preset.
template <class Variant>
void check_file(const Settings& settings, const std::string& name, const std::optional<Variant>& preset) {
  const Node* stored = given(settings.file, name);
  if (!stored) return;
  std::optional<Variant> value;
  Decoder(settings.file_name, settings.strictness).read(*stored, name, value);
  if (encode(value) == encode(preset)) return;
  if (settings.strictness == Strictness::kStrict) {
    fail(ErrorKind::kConfig,
         "{}: {}: differs from the policy's preset, which is in force. Set use_policy_training_preset to false, or "
         "leave it "
         "out and set policy.optimizer_lr and its like.",
         settings.file_name, name);
  }
  log::warn("{}: {} is not used: a new run takes the policy's preset (use_policy_training_preset is true)",
            settings.file_name, name);
}

void refuse_contradictions(const Settings& settings, bool uses_preset) {
  for (const PresetField& field : kPresetFields) {
    const Node* policy = settings.typed.find(field.policy);
    const Node* target = settings.typed.find(field.target);
    if (policy && !uses_preset) {
      settings.refuse(field.policy,
                      format("has no effect with --use_policy_training_preset=false. Use --{} instead.", field.target));
    }
    if (policy && target && !same_value(*policy, *target)) {
      settings.refuse(field.target, format("found {}, but --{} is {}. Leave one of them out.", describe(*target),
                                           field.policy, describe(*policy)));
    }
  }
}

}  // namespace

OptimizerConfig preset_optimizer(const PolicyConfig& policy) {
  if (const auto* act = std::get_if<ActConfig>(&policy)) {
    AdamWConfig out;
    out.lr = act->optimizer_lr;
    out.weight_decay = act->optimizer_weight_decay;
    out.grad_clip_norm = kPresetClipNorm;
    return out;
  }
  const auto& diffusion = std::get<DiffusionConfig>(policy);
  AdamConfig out;
  out.lr = diffusion.optimizer_lr;
  out.weight_decay = diffusion.optimizer_weight_decay;
  out.grad_clip_norm = kPresetClipNorm;
  std::copy_n(diffusion.optimizer_betas.begin(), std::min(diffusion.optimizer_betas.size(), out.betas.size()),
              out.betas.begin());
  out.eps = diffusion.optimizer_eps;
  return out;
}

std::optional<SchedulerConfig> preset_scheduler(const PolicyConfig& policy) {
  const auto* diffusion = std::get_if<DiffusionConfig>(&policy);
  if (!diffusion) return std::nullopt;
  return DiffuserSchedulerConfig{diffusion->scheduler_warmup_steps, diffusion->scheduler_name};
}

void choose_optimizer(const Settings& settings, TrainConfig& config) {
  refuse_contradictions(settings, config.use_policy_training_preset);
  if (!config.use_policy_training_preset) {
    if (!config.optimizer) {
      settings.refuse("optimizer.type",
                      "is missing, and --use_policy_training_preset=false needs one. Add --optimizer.type.");
    }
    return;
  }
  const std::optional optimizer = preset_optimizer(*config.policy);
  const std::optional scheduler = preset_scheduler(*config.policy);
  check_file(settings, "optimizer", optimizer);
  check_file(settings, "scheduler", scheduler);
  config.optimizer = over_preset(settings, "optimizer", optimizer);
  if (!config.optimizer) settings.refuse("optimizer", "found null, needed an optimizer. Leave it out.");
  config.scheduler = over_preset(settings, "scheduler", scheduler);
}

void refuse_optimizer_changes(const Settings& settings) {
  const auto refuse_if_changed = [&](std::string_view path) {
    const Node* typed = settings.typed.find(path);
    const Node* stored = settings.file.find(path);
    if (!typed || (stored && same_value(*typed, *stored))) return;
    settings.refuse(path,
                    format("found {}, but a resumed run keeps the optimizer of its checkpoint ({}). Leave it out, or "
                           "start a new run from its weights with --policy.path.",
                           describe(*typed), stored ? describe(*stored) : "not stored"));
  };
  if (const Node* optimizer = given(settings.typed, "optimizer"); optimizer && optimizer->map()) {
    for (const Entry& entry : *optimizer->map()) {
      if (entry.key != "grad_clip_norm") refuse_if_changed("optimizer." + entry.key);
    }
  }
  for (const PresetField& field : kPresetFields) refuse_if_changed(field.policy);
  refuse_if_changed("policy.optimizer_lr_backbone");
}

}  // namespace lerobot::config
