#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lerobot::checkpoint {

inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kLast = "last";
inline constexpr const char* kPretrainedModel = "pretrained_model";
inline constexpr const char* kPretrainedModelEma = "pretrained_model_ema";
inline constexpr const char* kTrainingState = "training_state";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kTrainConfigFile = "train_config.json";
inline constexpr const char* kStepFile = "training_step.json";
inline constexpr const char* kRngFile = "rng_state.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer_state.safetensors";
inline constexpr const char* kParamGroupsFile = "optimizer_param_groups.json";
inline constexpr const char* kSchedulerFile = "scheduler_state.json";
inline constexpr const char* kScalerFile = "scaler_state.json";
inline constexpr const char* kEmaFile = "ema_state.pt";
inline constexpr const char* kTemporaryPrefix = ".tmp-";  ///< a checkpoint being written
inline constexpr const char* kReplacedPrefix = ".old-";   ///< one that gives way to another of the same step

/// The directory name of a step: zero-padded to the digits of the run's total, at least six.
std::string step_name(std::int64_t step, std::int64_t total_steps);

/// The step directories under <output_dir>/checkpoints, highest step first, complete or not.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_dir);

/// What keeps a directory from being a whole checkpoint that can be resumed, in words; nothing if it is one. Looks at
/// names, at the JSON of the position and at the layout of the tensor files, not at their numbers.
std::optional<std::string> find_defect(const std::filesystem::path& checkpoint_dir);
inline bool is_complete(const std::filesystem::path& checkpoint_dir) {
  return !find_defect(checkpoint_dir);
}

/// The complete checkpoint of the highest step.
std::optional<std::filesystem::path> find_latest(const std::filesystem::path& output_dir);

/// Where `last` points: through the link, or through the pointer file that stands for it where links cannot be made.
/// Nothing when there is no `last` or it leads nowhere.
std::optional<std::filesystem::path> read_last(const std::filesystem::path& output_dir);

/// Throws Error(kIo) when something of the user's stands where `last` must go (a real directory, a file of other
/// content).
void check_last(const std::filesystem::path& output_dir);

/// Makes `last` point at a step directory, at no instant at nothing: link or pointer file under another name, then
/// renamed. `symlink` is the system's function, or a test's.
using Symlink = std::function<int(const char* target, const char* link)>;
void point_last(const std::filesystem::path& output_dir, const std::string& step_directory, const Symlink& symlink);

/// Removes what an interrupted save left behind, and puts back a checkpoint that it had moved aside. For the process
/// that alone writes to this folder.
void remove_leftovers(const std::filesystem::path& output_dir);

/// Renames `temporary` to `target`; what stood there before goes away only afterwards.
void move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& target);

}  // namespace lerobot::checkpoint
