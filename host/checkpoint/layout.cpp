#include "host/checkpoint/layout.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/format.h"
#include "host/base/safetensors.h"
#include "host/checkpoint/ema_file.h"
#include "host/checkpoint/training_step.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLeastDigits = 6;
constexpr std::size_t kMostDigits = 18;  // of a step that fits int64

bool is_step_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostDigits && name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The step name after `prefix`, if the name is made of just these two.
std::optional<std::string> after_prefix(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !is_step_name(name.substr(prefix.size()))) return std::nullopt;
  return name.substr(prefix.size());
}

/// The step name that a pointer file holds.
std::optional<std::string> read_pointer(const fs::path& file) {
  std::error_code ec;
  if (fs::file_size(file, ec) > kMostDigits + 1 || ec) return std::nullopt;
  std::string name = read_text(file, ErrorKind::kIo);
  if (name.ends_with('\n')) name.pop_back();
  return is_step_name(name) ? std::optional(name) : std::nullopt;
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

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

}  // namespace

std::string step_name(std::int64_t step, std::int64_t total_steps) {
  std::string name = std::to_string(step);
  const std::size_t width = std::max(kLeastDigits, std::to_string(total_steps).size());
  if (name.size() < width) name.insert(0, width - name.size(), '0');
  return name;
}

std::vector<fs::path> list_checkpoints(const fs::path& output_dir) {
  std::vector<fs::path> out;
  for (const fs::path& path : entries(output_dir / kCheckpoints)) {
    std::error_code ec;
    if (is_step_name(path.filename().string()) && fs::is_directory(path, ec)) out.push_back(path);
  }
  std::stable_sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) {
    return std::stoll(a.filename().string()) > std::stoll(b.filename().string());
  });
  return out;
}

std::optional<std::string> find_defect(const fs::path& checkpoint_dir) {
  const fs::path model = checkpoint_dir / kPretrainedModel;
  const fs::path state = checkpoint_dir / kTrainingState;
  try {
    for (const char* name : {kConfigFile, kTrainConfigFile}) {
      std::error_code ec;
      if (!fs::is_regular_file(model / name, ec)) return format("{}: no such file", (model / name).string());
    }
    SafetensorsFile(model / kModelFile, ErrorKind::kCheckpoint);
    read_training_step(state / kStepFile);
    SafetensorsFile(state / kRngFile, ErrorKind::kCheckpoint);
    SafetensorsFile(state / kOptimizerFile, ErrorKind::kCheckpoint);
    std::error_code ec;
    if (!fs::is_regular_file(state / kParamGroupsFile, ec)) {
      return format("{}: no such file", (state / kParamGroupsFile).string());
    }
    if (fs::exists(state / kEmaFile, ec)) check_ema_file(state / kEmaFile);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::optional<fs::path> find_latest(const fs::path& output_dir) {
  for (const fs::path& path : list_checkpoints(output_dir)) {
    if (is_complete(path)) return path;
  }
  return std::nullopt;
}

std::optional<fs::path> read_last(const fs::path& output_dir) {
  const fs::path checkpoints = output_dir / kCheckpoints;
  const fs::path last = checkpoints / kLast;
  std::error_code ec;
  fs::path target;
  if (fs::is_symlink(last, ec)) {
    target = fs::read_symlink(last, ec);
  } else if (fs::is_regular_file(last, ec)) {
    target = read_pointer(last).value_or("");
  }
  if (target.empty() || !fs::is_directory(checkpoints / target, ec)) return std::nullopt;
  return checkpoints / target;
}

void check_last(const fs::path& output_dir) {
  const fs::path last = output_dir / kCheckpoints / kLast;
  std::error_code ec;
  const fs::file_status status = fs::symlink_status(last, ec);
  if (!fs::exists(status) || fs::is_symlink(status)) return;
  if (fs::is_regular_file(status) && read_pointer(last)) return;
  fail(ErrorKind::kIo,
       "{}: is a {}, a link to the newest checkpoint must go there. It is not deleted: rename it, or choose another "
       "--output_dir.",
       last.string(), fs::is_directory(status) ? "real directory" : "file that was not made by this program");
}

void point_last(const fs::path& output_dir, const std::string& step_directory, const Symlink& symlink) {
  check_last(output_dir);
  const fs::path checkpoints = output_dir / kCheckpoints;
  const fs::path temporary = checkpoints / format("{}{}", kTemporaryPrefix, kLast);
  std::error_code ec;
  fs::remove(temporary, ec);
  if (symlink(step_directory.c_str(), temporary.c_str()) != 0) {
    if (errno == ENOSPC || errno == EDQUOT || errno == EROFS) {
      fail(ErrorKind::kIo, "{}: cannot be created: {}", temporary.string(), std::strerror(errno));
    }
    // A file system without links, or no permission to make them.
    write_durable(temporary, step_directory + "\n");
  }
  rename_or_fail(temporary, checkpoints / kLast);
  sync_directory(checkpoints);
}

void remove_leftovers(const fs::path& output_dir) {
  const fs::path checkpoints = output_dir / kCheckpoints;
  for (const fs::path& path : entries(checkpoints)) {
    const std::string name = path.filename().string();
    if (const auto replaced = after_prefix(name, kReplacedPrefix)) {
      std::error_code ec;
      if (fs::exists(checkpoints / *replaced, ec)) {
        remove_or_fail(path);
      } else {
        rename_or_fail(path, checkpoints / *replaced);
      }
    } else if (after_prefix(name, kTemporaryPrefix) || name == format("{}{}", kTemporaryPrefix, kLast)) {
      remove_or_fail(path);
    }
  }
}

void move_into_place(const fs::path& temporary, const fs::path& target) {
  const fs::path directory = target.parent_path();
  std::error_code ec;
  if (!fs::is_directory(target, ec)) {
    rename_or_fail(temporary, target);
    sync_directory(directory);
    return;
  }
  fs::path replaced = directory / (kReplacedPrefix + target.filename().string());
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    replaced = temporary;  // both names changed owners at one instant
  } else                   // NOLINT(readability-else-after-return): not every file system can exchange
#endif
  {
    rename_or_fail(target, replaced);
    rename_or_fail(temporary, target);
  }
  sync_directory(directory);
  remove_or_fail(replaced);
}

}  // namespace lerobot::checkpoint
