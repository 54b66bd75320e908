#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/checkpoint/checkpoint.h"
#include "host/config/train_config.h"
#include "host/optim/ema.h"
#include "host/optim/optimizer.h"
#include "host/optim/scheduler.h"
#include "host/policy/normalizer.h"
#include "host/policy/policy.h"
#include "host/precision/grad_scaler.h"

namespace lerobot::train {

/// Everything that training changes and a checkpoint keeps.
struct RunState {
  config::TrainConfig config;  ///< as it is saved: features filled in, device resolved
  at::Device device = at::kCPU;
  std::unique_ptr<policy::Policy> policy;
  std::optional<policy::Processors> processors;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<optim::LrScheduler> scheduler;  ///< null without one
  std::optional<precision::GradScaler> scaler;    ///< disabled without fp16
  std::optional<optim::Ema> ema;                  ///< with ema.enable
  std::int64_t schedule_steps = 0;                ///< the schedule's length; the configuration's steps, unless resumed
  checkpoint::Tensors rng;                        ///< entries of rng_state.safetensors that training does not change
};

/// Where the run stands after `step` micro-batches, in the terms of training_step.json.
checkpoint::TrainingStep position(const config::TrainConfig& config, std::int64_t step);

/// The whole state after `step` micro-batches and so many skipped updates, ready to be written. Tensors are shared, not
/// copied.
checkpoint::Checkpoint to_checkpoint(const RunState& state, std::int64_t step, std::int64_t skipped_updates);

/// The processors that a checkpoint holds: its statistics stay in force when a run resumes.
policy::Processors read_processors(const checkpoint::Checkpoint& checkpoint, const at::Device& device);

/// The length of the schedule of the run that saved a checkpoint: its own number of steps, unless it was resumed with
/// another. Nothing when the checkpoint does not say.
std::optional<std::int64_t> saved_schedule_length(const checkpoint::Checkpoint& checkpoint);

/// Whether a checkpoint holds the state of a loss scaler: one that was not enabled leaves an empty object.
bool has_scaler_state(const checkpoint::Checkpoint& checkpoint);
/// The file it is in; `source` is the checkpoint's directory.
std::string scaler_file(const std::string& source);

/// Puts optimizer, schedule, loss scaler, average and torch's random generator where the checkpoint left them. `source`
/// names it in messages. Throws Error(kCheckpoint).
void restore(RunState& state, const checkpoint::Checkpoint& checkpoint, const std::string& source);

}  // namespace lerobot::train
