#include "host/runs/run_folder.h"

#include <algorithm>
#include <string_view>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/safetensors.h"

namespace lerobot::runs {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLeastDigits = 6;
constexpr std::size_t kMostDigits = 18;  // of a step that fits int64

/// Throws Error when the file holds no position.
void check_position(const fs::path& file) {
  const boost::json::value value = json::read_file(file, ErrorKind::kCheckpoint);
  const auto* object = value.if_object();
  const auto* step = object ? object->if_contains("step") : nullptr;
  if (!step || !step->is_int64()) fail(ErrorKind::kCheckpoint, "{}: holds no \"step\"", file.string());
}

}  // namespace

bool is_step_name(const std::string& name) {
  return !name.empty() && name.size() <= kMostDigits && name.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<std::string> after_prefix(const std::string& name, const char* prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::string rest = name.substr(std::string_view(prefix).size());
  return is_step_name(rest) ? std::optional(std::move(rest)) : std::nullopt;
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

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
  std::error_code ec;
  for (const fs::path& file : {model / kConfigFile, model / kTrainConfigFile, state / kParamGroupsFile}) {
    if (!fs::is_regular_file(file, ec)) return format("{}: no such file", file.string());
  }
  try {
    check_position(state / kStepFile);
    for (const fs::path& file : {model / kModelFile, state / kRngFile, state / kOptimizerFile}) {
      const SafetensorsFile whole(file, ErrorKind::kCheckpoint);
    }
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::optional<std::string> read_pointer_file(const fs::path& file) {
  std::error_code ec;
  if (fs::file_size(file, ec) > kMostDigits + 1 || ec) return std::nullopt;
  std::string name = read_text(file, ErrorKind::kIo);
  if (name.ends_with('\n')) name.pop_back();
  return is_step_name(name) ? std::optional(name) : std::nullopt;
}

std::optional<fs::path> read_pointer(const fs::path& output_dir, const char* name) {
  const fs::path checkpoints = output_dir / kCheckpoints;
  const fs::path pointer = checkpoints / name;
  std::error_code ec;
  fs::path target;
  if (fs::is_symlink(pointer, ec)) {
    target = fs::read_symlink(pointer, ec);
  } else if (fs::is_regular_file(pointer, ec)) {
    target = read_pointer_file(pointer).value_or("");
  }
  if (target.empty() || !fs::is_directory(checkpoints / target, ec)) return std::nullopt;
  return (checkpoints / target).lexically_normal();
}

std::optional<Newest> find_newest(const fs::path& output_dir) {
  const auto next = read_pointer(output_dir, kNextLast);
  if (next && !find_defect(*next)) return Newest{*next, "the save that made it was interrupted before it moved `last`"};
  const auto last = read_last(output_dir);
  std::string note = "`last` is missing or leads nowhere";
  if (last) {
    const auto defect = find_defect(*last);
    if (!defect) return Newest{*last, ""};
    note = format("`last` leads to one that is not complete: {}", *defect);
  }
  for (const fs::path& checkpoint : list_checkpoints(output_dir)) {
    if (!find_defect(checkpoint)) return Newest{checkpoint, note};
  }
  return std::nullopt;
}

void put_back_replaced(const fs::path& output_dir) {
  const fs::path checkpoints = output_dir / kCheckpoints;
  for (const fs::path& path : entries(checkpoints)) {
    const auto name = after_prefix(path.filename().string(), kReplacedPrefix);
    std::error_code ec;
    if (name && !fs::exists(checkpoints / *name, ec)) fs::rename(path, checkpoints / *name, ec);
  }
}

}  // namespace lerobot::runs
