#include "host/checkpoint/writer.h"

#include <unistd.h>

#include <utility>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr json::WriteOptions kStateJson{.indent = 4, .escape_non_ascii = false};
constexpr json::WriteOptions kProcessorJson{.indent = 2, .escape_non_ascii = true};

void make_directory(const fs::path& directory) {
  std::error_code ec;
  fs::create_directories(directory, ec);
  if (ec) fail(ErrorKind::kIo, "{}: cannot be created: {}", directory.string(), ec.message());
}

}  // namespace

CheckpointWriter::CheckpointWriter(fs::path output_dir, std::int64_t total_steps, SaveHooks hooks)
    : output_dir_(std::move(output_dir)), total_steps_(total_steps), hooks_(std::move(hooks)) {
  if (!hooks_.symlink) hooks_.symlink = ::symlink;
  check_last(output_dir_);
  remove_leftovers(output_dir_);
}

bool CheckpointWriter::check_room(std::uint64_t bytes) const {
  const std::uintmax_t free = free_bytes(output_dir_);
  if (free >= bytes) return true;
  log::warn("{}: a checkpoint needs about {} bytes, {} are free. Saving will fail unless room is made.",
            output_dir_.string(), bytes, free);
  return false;
}

fs::path CheckpointWriter::save(const Checkpoint& checkpoint) {
  const std::string name = step_name(checkpoint.position.step, total_steps_);
  const fs::path checkpoints = output_dir_ / kCheckpoints;
  const fs::path temporary = checkpoints / (kTemporaryPrefix + name);
  const fs::path target = checkpoints / name;
  try {
    check_last(output_dir_);
    fs::remove_all(temporary);
    write_files(checkpoint, temporary);
    move_into_place(temporary, target);
    reached("renamed");
    point_last(output_dir_, name, hooks_.symlink);
    reached(kLast);
  } catch (const std::exception& error) {
    std::error_code ec;
    fs::remove_all(temporary, ec);
    const auto* known = dynamic_cast<const Error*>(&error);
    fail(known ? known->kind() : ErrorKind::kIo,
         "the checkpoint of step {} was not saved (it needs about {} bytes, {} are free; earlier ones are untouched): "
         "{}",
         checkpoint.position.step, size_on_disk(checkpoint), free_bytes(output_dir_), error.what());
  }
  return target;
}

void CheckpointWriter::write_files(const Checkpoint& checkpoint, const fs::path& directory) const {
  const auto text = [&](const fs::path& file, std::string_view content) {
    write_durable(directory / file, content);
    reached(file.string());
  };
  const auto tensors = [&](const fs::path& file, const Tensors& content, const OrderedMap<std::string>& metadata = {}) {
    write_tensors(directory / file, content, metadata);
    reached(file.string());
  };

  const fs::path model = kPretrainedModel;
  make_directory(directory / model);
  tensors(model / kModelFile, checkpoint.model, {{"format", "pt"}});
  text(model / kConfigFile, checkpoint.config_json);
  text(model / kTrainConfigFile, checkpoint.train_config_json);
  for (const ProcessorFile& processor : checkpoint.processors) {
    text(model / (processor.name + ".json"), json::write(processor.json, kProcessorJson));
    for (const auto& [file, state] : processor.states) tensors(model / file, state);
  }
  sync_directory(directory / model);

  const fs::path state = kTrainingState;
  make_directory(directory / state);
  text(state / kStepFile, training_step_json(checkpoint.position));
  tensors(state / kRngFile, checkpoint.rng);
  if (checkpoint.scheduler) text(state / kSchedulerFile, json::write(*checkpoint.scheduler, kStateJson));
  tensors(state / kOptimizerFile, checkpoint.optimizer);
  text(state / kParamGroupsFile, json::write(checkpoint.optimizer_param_groups, kStateJson));
  sync_directory(directory / state);
  sync_directory(directory);
}

void CheckpointWriter::reached(std::string_view point) const {
  if (hooks_.reached) hooks_.reached(point);
}

std::uint64_t size_on_disk(const Checkpoint& checkpoint) {
  constexpr std::uint64_t kHeaderOfOneTensor = 160;  // name, dtype, shape and offsets in the file's header, rounded up
  constexpr std::uint64_t kSmallFiles = 64 * 1024;   // the position, processors, parameter groups
  std::uint64_t bytes = kSmallFiles + checkpoint.config_json.size() + checkpoint.train_config_json.size();
  const auto add = [&](const Tensors& tensors) { bytes += total_bytes(tensors) + kHeaderOfOneTensor * tensors.size(); };
  add(checkpoint.model);
  add(checkpoint.optimizer);
  add(checkpoint.rng);
  for (const ProcessorFile& processor : checkpoint.processors) {
    for (const auto& [file, state] : processor.states) add(state);
  }
  return bytes;
}

}  // namespace lerobot::checkpoint
