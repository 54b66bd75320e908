#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "host/runs/run_folder.h"

namespace lerobot::checkpoint {

using runs::kCheckpoints;
using runs::kConfigFile;
using runs::kLast;
using runs::kModelFile;
using runs::kNextLast;
using runs::kOptimizerFile;
using runs::kParamGroupsFile;
using runs::kPretrainedModel;
using runs::kReplacedPrefix;
using runs::kRngFile;
using runs::kStepFile;
using runs::kTemporaryPrefix;
using runs::kTrainConfigFile;
using runs::kTrainingState;
using runs::list_checkpoints;
using runs::read_last;
using runs::step_name;
inline constexpr const char* kPretrainedModelEma = "pretrained_model_ema";
inline constexpr const char* kSchedulerFile = "scheduler_state.json";
inline constexpr const char* kScalerFile = "scaler_state.json";
inline constexpr const char* kEmaFile = "ema_state.pt";
inline constexpr const char* kRemovableFile = "keep_last_checkpoints";  ///< marks one that remove_surplus() may remove

/// runs::find_defect, and what takes a closer look at: the position's fields and the average of the weights.
std::optional<std::string> find_defect(const std::filesystem::path& checkpoint_dir);
inline bool is_complete(const std::filesystem::path& checkpoint_dir) {
  return !find_defect(checkpoint_dir);
}

/// Throws Error(kIo) when something of the user's stands where `last` must go (a real directory, a file of other
/// content).
void check_last(const std::filesystem::path& output_dir);

/// The `last` to be where the step's directory is there already and is about to be replaced: at this name nobody looks,
/// since what the pointer leads to may still be the old checkpoint.
inline constexpr const char* kNextLastOfReplaced = ".tmp-last-of-replaced";

/// Makes `last` point at a step directory, at no instant at nothing, in two steps around the one that puts the
/// directory in its place: a pointer under another name, and its renaming. kNextLast tells a resumed run where an
/// interrupted save was. Returns the pointer. `symlink` is the system's function, or a test's; where it can make no
/// links the pointer is a small file. Throw Error(kIo).
using Symlink = std::function<int(const char* target, const char* link)>;
std::filesystem::path announce_last(const std::filesystem::path& step_directory, const Symlink& symlink);
void move_last(const std::filesystem::path& pointer);

/// Removes what an interrupted save left behind, and puts back a checkpoint that it had moved aside. For the process
/// that alone writes to this folder.
void remove_leftovers(const std::filesystem::path& output_dir);

/// Renames `temporary` to `target`. Returns where what stood there before is now, which nobody needs any more. Throws
/// Error(kIo); both are then as before.
std::optional<std::filesystem::path> move_into_place(const std::filesystem::path& temporary,
                                                     const std::filesystem::path& target);

/// Of the complete checkpoints up to the one of `newest` that are marked as removable, removes all but the newest
/// `keep`. Unmarked ones were saved by somebody else or are to stay; later steps are of another branch of the run; a
/// directory with anything in it that a save does not write stays as well. What cannot be removed is a warning.
void remove_surplus(const std::filesystem::path& newest, std::int64_t keep);

}  // namespace lerobot::checkpoint
