#include "host/train/run_state.h"

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/checkpoint/layout.h"
#include "host/checkpoint/rng_state.h"
#include "host/config/load.h"
#include "host/policy/processor_json.h"

namespace lerobot::train {
namespace {

constexpr const char* kPreprocessor = "policy_preprocessor";
constexpr const char* kPostprocessor = "policy_postprocessor";

checkpoint::ProcessorFile processor_file(const char* name, boost::json::value json, std::string_view state_file,
                                         const policy::Normalizer& normalizer) {
  checkpoint::ProcessorFile file{.name = name, .json = std::move(json), .states = {}};
  file.states.append(std::string(state_file), normalizer.state());
  return file;
}

policy::Normalizer read_normalizer(const checkpoint::Checkpoint& checkpoint, std::string_view name,
                                   const at::Device& device) {
  for (const checkpoint::ProcessorFile& file : checkpoint.processors) {
    if (file.name != name) continue;
    const std::string path = file.name + ".json";
    const checkpoint::Tensors none;
    const auto& state = file.states.empty() ? none : file.states.begin()->second;
    return {policy::read_normalization(file.json, state, path), device, {ErrorKind::kCheckpoint, path}};
  }
  fail(ErrorKind::kCheckpoint, "the checkpoint has no {}.json, which holds the statistics for normalization", name);
}

/// The scaler's state belongs to fp16: a run may be resumed in another precision.
void restore_scaler(precision::GradScaler& scaler, const checkpoint::Checkpoint& checkpoint,
                    const std::string& source) {
  const std::string file = scaler_file(source);
  if (has_scaler_state(checkpoint) && scaler.enabled()) {
    scaler.load(*checkpoint.scaler, file);
  } else if (has_scaler_state(checkpoint)) {
    log::info("{} is not used: this run is not in fp16", file);
  } else if (scaler.enabled()) {
    log::warn("{}: {}: the loss scale starts again from {}", file, checkpoint.scaler ? "empty" : "no such file",
              scaler.current_scale().item<float>());
  }
}

void restore_ema(RunState& state, const checkpoint::Checkpoint& checkpoint, const std::string& source) {
  const std::string file = format("{}/{}/{}", source, checkpoint::kTrainingState, checkpoint::kEmaFile);
  if (state.ema && checkpoint.ema) {
    state.ema->load(*checkpoint.ema, file);
  } else if (state.ema) {
    log::warn("{}: no such file: the average (ema.enable) starts again from the present weights", file);
  } else if (checkpoint.ema) {
    log::info("{} is not used: this run keeps no average (ema.enable)", file);
  }
}

}  // namespace

checkpoint::TrainingStep position(const config::TrainConfig& config, std::int64_t step) {
  return {.step = step,
          .dp_world_size = 1,
          .batch_size = config.batch_size,
          .grad_accum_steps = config.accelerator.gradient_accumulation.steps,
          .parallelism = checkpoint::Parallelism{}};
}

checkpoint::Checkpoint to_checkpoint(const RunState& state, std::int64_t step, std::int64_t skipped_updates) {
  checkpoint::Checkpoint out;
  out.position = position(state.config, step);
  out.position.skipped_updates = skipped_updates;
  if (state.scheduler && state.schedule_steps != state.config.steps) out.position.schedule_steps = state.schedule_steps;
  out.config_json = config::policy_config_json(*state.config.policy);
  out.train_config_json = config::train_config_json(state.config);
  out.model = state.policy->state_dict();
  const policy::Normalizer& pre = state.processors->pre;
  const policy::Normalizer& post = state.processors->post;
  // The type alone, as LeRobot writes it into a processor's file.
  const std::string device_type = at::DeviceTypeName(state.device.type(), /*lower_case=*/true);
  out.processors.push_back(processor_file(
      kPreprocessor, policy::preprocessor_json(pre.normalization(), state.config.rename_map, device_type),
      policy::kPreprocessorState, pre));
  out.processors.push_back(processor_file(kPostprocessor, policy::postprocessor_json(post.normalization()),
                                          policy::kPostprocessorState, post));
  out.optimizer = state.optimizer->state_tensors();
  out.optimizer_param_groups = state.optimizer->param_groups_json();
  if (state.scheduler) out.scheduler = state.scheduler->state_json();
  if (state.scaler->enabled()) out.scaler = state.scaler->state_json();
  if (state.ema) out.ema = state.ema->state();
  out.rng = state.rng;
  checkpoint::record_torch_rng(out.rng, state.device);
  return out;
}

policy::Processors read_processors(const checkpoint::Checkpoint& checkpoint, const at::Device& device) {
  return {read_normalizer(checkpoint, kPreprocessor, device), read_normalizer(checkpoint, kPostprocessor, device)};
}

std::optional<std::int64_t> saved_schedule_length(const checkpoint::Checkpoint& checkpoint) {
  if (checkpoint.position.schedule_steps) return checkpoint.position.schedule_steps;
  const boost::json::value config = json::parse(checkpoint.train_config_json, checkpoint::kTrainConfigFile,
                                                ErrorKind::kCheckpoint, json::NonFinite::kAccept);
  const auto* object = config.if_object();
  const auto* steps = object ? object->if_contains("steps") : nullptr;
  return steps && steps->is_int64() ? std::optional(steps->get_int64()) : std::nullopt;
}

bool has_scaler_state(const checkpoint::Checkpoint& checkpoint) {
  return checkpoint.scaler && !checkpoint.scaler->as_object().empty();
}

std::string scaler_file(const std::string& source) {
  return format("{}/{}/{}", source, checkpoint::kTrainingState, checkpoint::kScalerFile);
}

void restore(RunState& state, const checkpoint::Checkpoint& checkpoint, const std::string& source) {
  state.optimizer->load(checkpoint.optimizer, checkpoint.optimizer_param_groups, source);
  if (state.scheduler) {
    if (!checkpoint.scheduler) {
      fail(ErrorKind::kCheckpoint,
           "{}: has no training_state/scheduler_state.json, but the configuration has a scheduler", source);
    }
    state.scheduler->load(*checkpoint.scheduler, source);
  }
  restore_scaler(*state.scaler, checkpoint, source);
  restore_ema(state, checkpoint, source);
  checkpoint::restore_torch_rng(checkpoint.rng, state.device);
}

}  // namespace lerobot::train
