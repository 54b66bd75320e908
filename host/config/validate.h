#pragma once

#include "host/config/settings.h"
#include "host/config/train_config.h"

namespace lerobot::config {

/// The rules that need more than one value or a range. Throws Error naming the flag or the file.
void validate(const Settings& settings, const TrainConfig& config);

/// Whether a new run may write there: not a file, not a directory with something in it, permitted. Creates nothing.
/// Throws Error(kUsage or kConfig).
void check_output_directory(const Settings& settings, const std::string& directory);

}  // namespace lerobot::config
