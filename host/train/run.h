#pragma once

#include <string>
#include <vector>

#include "host/accel/accelerator.h"
#include "host/config/load.h"

namespace lerobot::train {

/// Trains as the command line asks, on the accelerator that was activated. `rejected`: one line for each plugin that
/// was not usable, for a refusal whose real cause may be there. Returns the process's exit code. Throws Error.
int run(const config::TrainCommand& command, accel::Accelerator& accelerator, const std::vector<std::string>& rejected);

}  // namespace lerobot::train
