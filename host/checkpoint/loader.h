#pragma once

#include <filesystem>

#include "host/checkpoint/checkpoint.h"
#include "host/checkpoint/processor_file.h"

namespace lerobot::checkpoint {

/// Everything of one checkpoint (`.../checkpoints/<step>`, or `last`). Throws Error(kCheckpoint) for each thing that is
/// missing or malformed, naming the file.
Checkpoint load(const std::filesystem::path& checkpoint_dir);

/// The weights of a pretrained_model folder.
Tensors load_model(const std::filesystem::path& pretrained_model_dir);

}  // namespace lerobot::checkpoint
