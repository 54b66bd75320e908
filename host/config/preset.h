#pragma once

#include <optional>

#include "host/config/settings.h"
#include "host/config/train_config.h"

namespace lerobot::config {

/// The optimizer and scheduler that a policy brings along.
OptimizerConfig preset_optimizer(const PolicyConfig& policy);
std::optional<SchedulerConfig> preset_scheduler(const PolicyConfig& policy);

/// Fills in config.optimizer and config.scheduler of a new run: the policy's presets with the typed --optimizer.* and
/// --scheduler.* over them, or, with use_policy_training_preset=false, what was given. A file's optimizer does not
/// count beside the preset: a stored one that differs gives a warning, one of a user's file an error.
/// Throws Error(kUsage) where two typed flags say different things.
void choose_optimizer(const Settings& settings, TrainConfig& config);

/// On resume the optimizer's settings come back with its state: refuses typed ones that differ from the stored.
void refuse_optimizer_changes(const Settings& settings);

}  // namespace lerobot::config
