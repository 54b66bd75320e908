#pragma once

#include <filesystem>

#include "host/config/settings.h"
#include "host/config/train_config.h"

namespace lerobot::config {

/// outputs/train/<date>/<time>_<name>, local time.
std::string dated_directory(const std::string& name);

/// Fills in what is left open: job_name, output_dir (outputs/train/<date>/<time>_<job_name>, local time),
/// dataset.repo_id from the root's name, eval.batch_size from the number of processors; drops negative episodes to
/// exclude, with a warning. Throws Error(kUsage) when there is neither a dataset nor a policy.
void fill_in(const Settings& settings, TrainConfig& config);

/// Notes in the configuration what is resumed: checkpoint_path and the policy's pretrained_path. Warns when new
/// checkpoints will go to another run's directory.
void note_checkpoint(const Settings& settings, const std::filesystem::path& checkpoint, TrainConfig& config);

}  // namespace lerobot::config
