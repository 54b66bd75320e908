#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lerobot::runs {

// The names of LeRobot's checkpoint tree, and of what a save leaves beside it while it goes on.
inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kLast = "last";
inline constexpr const char* kPretrainedModel = "pretrained_model";
inline constexpr const char* kTrainingState = "training_state";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kTrainConfigFile = "train_config.json";
inline constexpr const char* kStepFile = "training_step.json";
inline constexpr const char* kRngFile = "rng_state.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer_state.safetensors";
inline constexpr const char* kParamGroupsFile = "optimizer_param_groups.json";
inline constexpr const char* kTemporaryPrefix = ".tmp-";  ///< what is being written, or about to go away
inline constexpr const char* kReplacedPrefix = ".old-";   ///< a checkpoint that gives way to another of the same step
inline constexpr const char* kNextLast = ".tmp-last";     ///< the `last` to be, once what it names is there

/// The directory name of a step: zero-padded to the digits of the run's total, at least six.
std::string step_name(std::int64_t step, std::int64_t total_steps);

/// Whether the name is that of a step's directory.
bool is_step_name(const std::string& name);

/// The step name after `prefix`, if `name` is made of just these two.
std::optional<std::string> after_prefix(const std::string& name, const char* prefix);

/// Everything in a directory, by name; nothing when it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& directory);

/// The step directories under <output_dir>/checkpoints, highest step first, complete or not.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_dir);

/// What keeps a directory from being a whole checkpoint that can be resumed, in words; nothing if it is one. Looks at
/// names, at the position and at the layout of the tensor files, not at their numbers.
std::optional<std::string> find_defect(const std::filesystem::path& checkpoint_dir);

/// Where a pointer under checkpoints/ leads: a link, or the small file that stands for it where links cannot be made.
/// Nothing when it is not there or leads nowhere.
std::optional<std::filesystem::path> read_pointer(const std::filesystem::path& output_dir, const char* name);
inline std::optional<std::filesystem::path> read_last(const std::filesystem::path& output_dir) {
  return read_pointer(output_dir, kLast);
}
/// The step name in the small file; nothing when the file holds something else.
std::optional<std::string> read_pointer_file(const std::filesystem::path& file);

/// A run's newest complete checkpoint.
struct Newest {
  std::filesystem::path checkpoint;
  std::string note;  ///< why it is not simply where `last` leads; empty if it is
};

/// The one that an interrupted save had in place and not yet named, else the one of `last`, else that of the highest
/// step; the first of these that is complete. Nothing when there is none.
std::optional<Newest> find_newest(const std::filesystem::path& output_dir);

/// Gives a checkpoint its name back that an interrupted save moved aside before another could take its place. For the
/// process that is about to use the folder; what cannot be renamed stays.
void put_back_replaced(const std::filesystem::path& output_dir);

}  // namespace lerobot::runs
