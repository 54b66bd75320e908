#include "host/checkpoint/layout.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/checkpoint/ema_file.h"
#include "host/checkpoint/training_step.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace {

void rename_or_fail(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  fs::rename(from, to, ec);
  if (ec) fail(ErrorKind::kIo, "{}: cannot be renamed to {}: {}", from.string(), to.filename().string(), ec.message());
}

void remove_or_fail(const fs::path& path) {
  std::error_code ec;
  fs::remove_all(path, ec);
  if (ec) fail(ErrorKind::kIo, "{}: left by an interrupted save, cannot be removed: {}", path.string(), ec.message());
}

/// Both names change owners at one instant. False where the system cannot do that.
bool exchange(const fs::path& a, const fs::path& b) {
#ifdef RENAME_EXCHANGE
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

/// Whether a save wrote all that is in there: its folders and files by name, and processors' files.
bool is_of_a_save(const fs::path& checkpoint_dir) {
  static const std::set<std::string> folders{kPretrainedModel, kPretrainedModelEma, kTrainingState};
  static const std::set<std::string> files{kModelFile,  kConfigFile,    kTrainConfigFile, kStepFile,
                                           kRngFile,    kOptimizerFile, kParamGroupsFile, kSchedulerFile,
                                           kScalerFile, kEmaFile,       kRemovableFile};
  for (const fs::path& folder : runs::entries(checkpoint_dir)) {
    std::error_code ec;
    if (!folders.contains(folder.filename().string()) || !fs::is_directory(fs::symlink_status(folder, ec)))
      return false;
    for (const fs::path& file : runs::entries(folder)) {
      const std::string name = file.filename().string();
      const bool known =
          files.contains(name) || name.starts_with("policy_preprocessor") || name.starts_with("policy_postprocessor");
      if (!known || !fs::is_regular_file(fs::symlink_status(file, ec))) return false;
    }
  }
  return true;
}

/// Under a name that says so first: one that is half removed must not look like a checkpoint.
void remove_checkpoint(const fs::path& checkpoint_dir) {
  const fs::path doomed = checkpoint_dir.parent_path() / (kTemporaryPrefix + checkpoint_dir.filename().string());
  std::error_code ec;
  fs::rename(checkpoint_dir, doomed, ec);
  if (!ec) fs::remove_all(doomed, ec);
  if (ec) log::warn("{}: an old checkpoint cannot be removed: {}", checkpoint_dir.string(), ec.message());
}

}  // namespace

std::optional<std::string> find_defect(const fs::path& checkpoint_dir) {
  const fs::path state = checkpoint_dir / kTrainingState;
  if (auto defect = runs::find_defect(checkpoint_dir)) return defect;
  try {
    read_training_step(state / kStepFile);
    std::error_code ec;
    if (fs::exists(state / kEmaFile, ec)) check_ema_file(state / kEmaFile);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

void check_last(const fs::path& output_dir) {
  const fs::path last = output_dir / kCheckpoints / kLast;
  std::error_code ec;
  const fs::file_status status = fs::symlink_status(last, ec);
  if (!fs::exists(status) || fs::is_symlink(status)) return;
  if (fs::is_regular_file(status) && runs::read_pointer_file(last)) return;
  fail(ErrorKind::kIo,
       "{}: is a {}, a link to the newest checkpoint must go there. It is not deleted: rename it, or choose another "
       "--output_dir.",
       last.string(), fs::is_directory(status) ? "real directory" : "file that was not made by this program");
}

fs::path announce_last(const fs::path& step_directory, const Symlink& symlink) {
  std::error_code ec;
  const bool replaces = fs::exists(fs::symlink_status(step_directory, ec));
  const fs::path next = step_directory.parent_path() / (replaces ? kNextLastOfReplaced : kNextLast);
  const std::string name = step_directory.filename().string();
  fs::remove(next, ec);
  if (symlink(name.c_str(), next.c_str()) == 0) return next;
  if (errno == ENOSPC || errno == EDQUOT || errno == EROFS) {
    fail(ErrorKind::kIo, "{}: cannot be created: {}", next.string(), std::strerror(errno));
  }
  // A file system without links, or no permission to make them.
  write_durable(next, name + "\n");
  return next;
}

void move_last(const fs::path& pointer) {
  const fs::path checkpoints = pointer.parent_path();
  check_last(checkpoints.parent_path());
  rename_or_fail(pointer, checkpoints / kLast);
  sync_directory(checkpoints);
}

void remove_leftovers(const fs::path& output_dir) {
  runs::put_back_replaced(output_dir);
  for (const fs::path& path : runs::entries(output_dir / kCheckpoints)) {
    const std::string name = path.filename().string();
    const bool is_leftover = runs::after_prefix(name, kReplacedPrefix) || runs::after_prefix(name, kTemporaryPrefix);
    if (is_leftover || name == kNextLast || name == kNextLastOfReplaced) remove_or_fail(path);
  }
}

std::optional<fs::path> move_into_place(const fs::path& temporary, const fs::path& target) {
  std::error_code ec;
  if (!fs::is_directory(target, ec)) {
    rename_or_fail(temporary, target);
    return std::nullopt;
  }
  if (exchange(temporary, target)) return temporary;
  // Not every file system can exchange.
  const fs::path replaced = target.parent_path() / (kReplacedPrefix + target.filename().string());
  rename_or_fail(target, replaced);
  try {
    rename_or_fail(temporary, target);
  } catch (const Error&) {
    fs::rename(replaced, target, ec);
    throw;
  }
  return replaced;
}

void remove_surplus(const fs::path& newest, std::int64_t keep) {
  const auto step_of = [](const fs::path& path) { return std::stoll(path.filename().string()); };
  for (const fs::path& checkpoint : list_checkpoints(newest.parent_path().parent_path())) {
    std::error_code ec;
    const bool is_marked = fs::exists(checkpoint / kTrainingState / kRemovableFile, ec);
    if (!is_marked || step_of(checkpoint) > step_of(newest) || runs::find_defect(checkpoint)) continue;
    if (keep-- > 0) continue;
    if (is_of_a_save(checkpoint)) {
      remove_checkpoint(checkpoint);
    } else {
      log::warn("{}: not removed, since it holds what a save does not write", checkpoint.string());
    }
  }
}

}  // namespace lerobot::checkpoint
