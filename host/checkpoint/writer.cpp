#include "host/checkpoint/writer.h"

#include <unistd.h>

#include <utility>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/checkpoint/ema_file.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr json::WriteOptions kStateJson{.indent = 4, .escape_non_ascii = false};
constexpr json::WriteOptions kProcessorJson{.indent = 2, .escape_non_ascii = true};

constexpr std::string_view kRemovableText =
    "A later save with --keep_last_checkpoints may remove this checkpoint. Delete this file to keep it.\n";

/// The model with the averages in the parameters' place; its buffers stay.
Tensors averaged(const Tensors& model, const EmaState& ema) {
  Tensors out = model;
  for (const auto& [name, average] : ema.shadow) {
    at::Tensor* parameter = out.find(name);
    if (!parameter) fail(ErrorKind::kInternal, "the average of {} has no parameter of that name in the model", name);
    *parameter = average;
  }
  return out;
}

}  // namespace

CheckpointWriter::CheckpointWriter(fs::path output_dir, const WriterOptions& options, SaveHooks hooks)
    : output_dir_(std::move(output_dir)), options_(options), hooks_(std::move(hooks)) {
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

fs::path CheckpointWriter::save(const Checkpoint& checkpoint, const std::function<void()>& written) {
  const std::string name = step_name(checkpoint.position.step, options_.total_steps);
  const fs::path checkpoints = output_dir_ / kCheckpoints;
  const fs::path temporary = checkpoints / (kTemporaryPrefix + name);
  const fs::path target = checkpoints / name;
  bool in_place = false;
  try {
    check_last(output_dir_);
    fs::remove_all(temporary);
    UnflushedFiles files(temporary);
    write_files(checkpoint, files);
    if (written) written();
    files.flush();
    reached("flushed");
    put_in_place(temporary, target, in_place);
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const ErrorKind kind = known ? known->kind() : ErrorKind::kIo;
    if (in_place) {
      fail(kind, "the checkpoint of step {} is in its place, but {} may not lead to it after a power cut: {}",
           checkpoint.position.step, (checkpoints / kLast).string(), error.what());
    }
    std::error_code ec;
    fs::remove_all(temporary, ec);
    for (const char* pointer : {kNextLast, kNextLastOfReplaced}) fs::remove(checkpoints / pointer, ec);
    fail(kind,
         "the checkpoint of step {} was not saved (it needs about {} bytes, {} are free; earlier ones are untouched): "
         "{}",
         checkpoint.position.step, size_on_disk(checkpoint), free_bytes(output_dir_), error.what());
  }
  if (options_.keep_last > 0) remove_surplus(target, options_.keep_last);
  return target;
}

void CheckpointWriter::put_in_place(const fs::path& temporary, const fs::path& target, bool& in_place) const {
  const fs::path next_last = announce_last(target, hooks_.symlink);
  const auto replaced = move_into_place(temporary, target);
  in_place = true;
  sync_directory(target.parent_path());
  reached("renamed");
  move_last(next_last);
  reached(kLast);
  if (!replaced) return;
  std::error_code ec;
  fs::remove_all(*replaced, ec);
  if (ec) log::warn("{}: a replaced checkpoint cannot be removed: {}", replaced->string(), ec.message());
}

void CheckpointWriter::write_files(const Checkpoint& checkpoint, UnflushedFiles& files) const {
  write_model(checkpoint, checkpoint.model, files, kPretrainedModel);
  if (checkpoint.ema) {
    write_model(checkpoint, averaged(checkpoint.model, *checkpoint.ema), files, kPretrainedModelEma);
  }
  write_training_state(checkpoint, files);
}

void CheckpointWriter::write_model(const Checkpoint& checkpoint, const Tensors& tensors, UnflushedFiles& files,
                                   const fs::path& folder) const {
  write_file(files, folder / kModelFile, tensors, {{"format", "pt"}});
  write_file(files, folder / kConfigFile, checkpoint.config_json);
  write_file(files, folder / kTrainConfigFile, checkpoint.train_config_json);
  for (const ProcessorFile& processor : checkpoint.processors) {
    write_file(files, folder / (processor.name + ".json"), json::write(processor.json, kProcessorJson));
    for (const auto& [file, state] : processor.states) write_file(files, folder / file, state);
  }
}

void CheckpointWriter::write_training_state(const Checkpoint& checkpoint, UnflushedFiles& files) const {
  const fs::path folder = kTrainingState;
  const auto text = [&](const char* file, std::string_view content) { write_file(files, folder / file, content); };
  const auto object = [&](const char* file, const boost::json::value& value) {
    text(file, json::write(value, kStateJson));
  };
  text(kStepFile, training_step_json(checkpoint.position));
  if (options_.keep_last > 0) text(kRemovableFile, kRemovableText);
  write_file(files, folder / kRngFile, checkpoint.rng);
  if (checkpoint.scheduler) object(kSchedulerFile, *checkpoint.scheduler);
  if (checkpoint.scaler) object(kScalerFile, *checkpoint.scaler);
  write_file(files, folder / kOptimizerFile, checkpoint.optimizer);
  object(kParamGroupsFile, checkpoint.optimizer_param_groups);
  if (checkpoint.ema) {
    write_ema_state(files.add(folder / kEmaFile), *checkpoint.ema);
    reached((folder / kEmaFile).string());
  }
}

void CheckpointWriter::write_file(UnflushedFiles& files, const fs::path& file, std::string_view content) const {
  files.add(file).write(content.data(), content.size());
  reached(file.string());
}

void CheckpointWriter::write_file(UnflushedFiles& files, const fs::path& file, const Tensors& content,
                                  const OrderedMap<std::string>& metadata) const {
  write_tensors(files.add(file, kSafetensorsMode), content, metadata);
  reached(file.string());
}

void CheckpointWriter::reached(std::string_view point) const {
  if (hooks_.reached) hooks_.reached(point);
}

std::uint64_t size_on_disk(const Checkpoint& checkpoint) {
  constexpr std::uint64_t kHeaderOfOneTensor = 160;  // name, dtype, shape and offsets in the file's header, rounded up
  constexpr std::uint64_t kSmallFiles = 64 * 1024;   // the position, processors, parameter groups
  const auto size = [&](const Tensors& tensors) { return total_bytes(tensors) + kHeaderOfOneTensor * tensors.size(); };
  std::uint64_t model = size(checkpoint.model) + checkpoint.config_json.size() + checkpoint.train_config_json.size();
  for (const ProcessorFile& processor : checkpoint.processors) {
    for (const auto& [file, state] : processor.states) model += size(state);
  }
  const std::uint64_t bytes = kSmallFiles + model + size(checkpoint.optimizer) + size(checkpoint.rng);
  return checkpoint.ema ? bytes + model + ema_file_size(*checkpoint.ema) : bytes;
}

}  // namespace lerobot::checkpoint
