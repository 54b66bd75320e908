#pragma once

#include <filesystem>
#include <vector>

#include "host/checkpoint/checkpoint.h"

namespace lerobot::checkpoint {

/// Reads policy_preprocessor.json and policy_postprocessor.json of a pretrained_model folder with the state files that
/// they name. Every statistic that a normalization step needs is there, finite and of its feature's size, or an
/// Error(kCheckpoint) names feature, statistic and file. A folder from before LeRobot had these files is recognised.
std::vector<ProcessorFile> load_processors(const std::filesystem::path& pretrained_model_dir);

}  // namespace lerobot::checkpoint
