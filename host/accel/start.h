#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/accel/accelerator.h"
#include "host/accel/choice.h"

namespace lerobot::accel {

struct StartOptions {
  std::vector<std::string> plugin_directories;  ///< --plugins
  std::optional<std::string> torch_directory;   ///< --torch_dir
  DeviceRequest request;
};

/// LOCAL_RANK and LOCAL_WORLD_SIZE of a distributed run into the request; nothing when they are unset.
/// Throws Error(kConfig) when one is no number.
void read_local_rank(const Variables& variables, DeviceRequest& request);

/// Options of a survey as the programs make it: environment, time limit (LEROBOT_ACCEL_PROBE_SECONDS), plugins excluded
/// by a restart.
SurveyOptions survey_options(const std::vector<std::string>& plugin_directories,
                             const std::optional<std::string>& torch_directory);

/// What started, and what a later refusal may have to say about it.
struct Started {
  std::unique_ptr<Accelerator> accelerator;
  TorchRuntime torch;                 ///< the loaded one
  std::vector<std::string> rejected;  ///< one line for each plugin that was not usable, with its reason
};

/// Finds, chooses, says so in one log line, and activates. A plugin that was chosen automatically and fails its
/// activation or selftest makes the program restart without it; one that was asked for is an Error.
Started start(const StartOptions& options);

}  // namespace lerobot::accel
