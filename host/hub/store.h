#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "host/hub/listing.h"

namespace lerobot::hub {

/// Where a commit's files are put on this machine.
class Store {
 public:
  virtual ~Store() = default;
  /// The files lie below it under their names.
  virtual std::filesystem::path root() const = 0;
  /// Where listings of commits are kept.
  virtual std::filesystem::path listings() const = 0;
  /// Whether the file is in its place and whole. Puts it there if its content is here already under another name.
  virtual bool provide(const RemoteFile& file) = 0;
  /// Where its content is gathered while it comes: on the file system of its place.
  virtual std::filesystem::path partial(const RemoteFile& file) const = 0;
  /// The file that whoever downloads it locks.
  virtual std::filesystem::path lock(const RemoteFile& file) const = 0;
  /// Moves the gathered content, which was checked, to its place.
  virtual void place(const RemoteFile& file) = 0;
};

/// The cache of huggingface_hub: `<cache>/datasets--org--name/{blobs,refs,snapshots,trees}`, shared with Python.
class Cache {
 public:
  Cache(const std::filesystem::path& directory, const Request& request);

  /// The commit that a branch or tag had when it was last asked for; nothing when that is not known.
  std::optional<std::string> ref(const std::string& name) const;
  void set_ref(const std::string& name, const std::string& commit) const;
  std::vector<std::string> ref_names() const;

  std::filesystem::path snapshot(const std::string& commit) const { return repository_ / "snapshots" / commit; }
  const std::filesystem::path& repository() const { return repository_; }
  std::unique_ptr<Store> store(const std::string& commit) const;

 private:
  std::filesystem::path repository_, locks_;
};

/// A folder of the user's, with huggingface_hub's notes in `.cache/huggingface` below it. A file there that is not ours
/// and not the wanted one is refused, never overwritten.
std::unique_ptr<Store> folder_store(const std::filesystem::path& folder, const std::string& commit);

/// A lock on a file, held as long as the object lives; released when the process ends, however it ends.
class FileLock {
 public:
  /// Nothing while another process holds it. Throws Error(kIo) when the lock's file cannot be made. A file system
  /// without locks counts as free.
  static std::optional<FileLock> try_lock(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace lerobot::hub
