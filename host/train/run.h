#pragma once

#include "host/accel/accelerator.h"
#include "host/config/load.h"

namespace lerobot::train {

/// Trains as the command line asks, on the accelerator that was activated. Returns the process's exit code.
/// Throws Error.
int run(const config::TrainCommand& command, accel::Accelerator& accelerator);

}  // namespace lerobot::train
