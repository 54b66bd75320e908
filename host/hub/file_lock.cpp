#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "host/base/error.h"
#include "host/hub/place_text.h"
#include "host/hub/store.h"

namespace lerobot::hub {
namespace fs = std::filesystem;
namespace {

/// Whether the path still names the open file: whoever held the lock before may have removed it.
bool is_current(int descriptor, const fs::path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

}  // namespace

std::optional<FileLock> FileLock::try_lock(const fs::path& path) {
  make_parents(path);
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664);
    if (descriptor < 0) {
      fail(ErrorKind::kIo,
           "{}: cannot be opened: {}. Set HF_HOME (datasets: HF_LEROBOT_HOME) to a folder that can be "
           "written to.",
           path.string(), std::strerror(errno));
    }
    FileLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    if (is_current(descriptor, path)) return lock;
  }
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lerobot::hub
