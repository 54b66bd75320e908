#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "host/checkpoint/checkpoint.h"
#include "host/checkpoint/layout.h"
#include "host/checkpoint/unflushed_files.h"

namespace lerobot::checkpoint {

/// The places of a save at which tests interfere. Both may be empty.
struct SaveHooks {
  /// A file's relative path when its content is written, "flushed", "renamed", "last".
  std::function<void(std::string_view point)> reached;
  Symlink symlink;  ///< instead of the system's
};

struct WriterOptions {
  std::int64_t total_steps = 0;  ///< of the run: the names of steps have as many digits
  std::int64_t keep_last = 0;    ///< after a save all but so many of the checkpoints that it marked go; 0: none goes
};

/// Writes checkpoints in LeRobot's layout, one process per output folder. Files go to a temporary sibling, all are
/// flushed, the directory is renamed, only then `last` moves, and only then older ones go: from the first save on a
/// complete checkpoint exists at every instant.
class CheckpointWriter {
 public:
  /// Removes what an interrupted save left. Throws Error(kIo) when `last` is something of the user's.
  CheckpointWriter(std::filesystem::path output_dir, const WriterOptions& options, SaveHooks hooks = {});
  CheckpointWriter(std::filesystem::path output_dir, std::int64_t total_steps, SaveHooks hooks = {})
      : CheckpointWriter(std::move(output_dir), WriterOptions{.total_steps = total_steps}, std::move(hooks)) {}

  /// Warns when the disk has no room for a checkpoint of this many bytes; false then.
  bool check_room(std::uint64_t bytes) const;

  /// Writes <output_dir>/checkpoints/<step> and returns it; a directory of that step is replaced. `written` is called
  /// when the system has all content: from then on the tensors may change. When the save fails the partial files are
  /// removed, earlier checkpoints stay, and Error(kIo) tells the bytes needed and free.
  std::filesystem::path save(const Checkpoint& checkpoint, const std::function<void()>& written = {});

 private:
  /// Puts the flushed files in their place and moves `last`. Throws Error(kIo); `in_place` says whether the checkpoint
  /// is there all the same.
  void put_in_place(const std::filesystem::path& temporary, const std::filesystem::path& target, bool& in_place) const;
  void write_files(const Checkpoint& checkpoint, UnflushedFiles& files) const;
  /// The folder that --policy.path takes.
  void write_model(const Checkpoint& checkpoint, const Tensors& tensors, UnflushedFiles& files,
                   const std::filesystem::path& folder) const;
  void write_training_state(const Checkpoint& checkpoint, UnflushedFiles& files) const;
  /// One file, by its path inside the checkpoint's directory.
  void write_file(UnflushedFiles& files, const std::filesystem::path& file, std::string_view content) const;
  void write_file(UnflushedFiles& files, const std::filesystem::path& file, const Tensors& content,
                  const OrderedMap<std::string>& metadata = {}) const;
  void reached(std::string_view point) const;

  std::filesystem::path output_dir_;
  WriterOptions options_;
  SaveHooks hooks_;
};

/// About how many bytes save() will write.
std::uint64_t size_on_disk(const Checkpoint& checkpoint);

}  // namespace lerobot::checkpoint
