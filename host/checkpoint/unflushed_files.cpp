#include "host/checkpoint/unflushed_files.h"

#include <algorithm>

#include "host/base/error.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;

DurableFile& UnflushedFiles::add(const fs::path& file, unsigned mode) {
  const fs::path path = directory_ / file;
  const fs::path folder = path.parent_path();
  if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end()) {
    std::error_code ec;
    fs::create_directories(folder, ec);
    if (ec) fail(ErrorKind::kIo, "{}: cannot be created: {}", folder.string(), ec.message());
    folders_.push_back(folder);
  }
  return files_.emplace_back(path, mode);
}

void UnflushedFiles::flush() {
  for (DurableFile& file : files_) file.finish();
  files_.clear();
  for (const fs::path& folder : folders_) sync_directory(folder);
  sync_directory(directory_);
}

}  // namespace lerobot::checkpoint
