#pragma once

#include <string>
#include <vector>

namespace lerobot::config {
struct TrainCommand;
}
namespace lerobot::accel {
class Accelerator;
}

namespace lerobot {

/// What the program hands to the trainer library.
struct TrainerCall {
  const config::TrainCommand* command;
  accel::Accelerator* accelerator;           ///< started, its device current on this thread
  const std::vector<std::string>* rejected;  ///< one line for each plugin that was not usable
};

/// The one function of liblerobot_trainer.so, as the C symbol `lerobot_trainer_run`. Returns the program's exit code;
/// throws lerobot::Error as any other function.
using TrainerRun = int (*)(const TrainerCall* call);

}  // namespace lerobot
