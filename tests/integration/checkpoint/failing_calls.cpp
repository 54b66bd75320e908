// Replaces functions of the C library; headers must not redefine them.
#undef _FORTIFY_SOURCE
#include "tests/integration/checkpoint/failing_calls.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace lerobot::test {
namespace {

bool counting = false;
Fault wanted = Fault::kNone;
std::int64_t wanted_at = 0;
int wanted_error = 0;
std::int64_t calls = 0;
Abilities able;

/// Counts a call. Whether it is to fail, with errno set.
bool fails(bool needs_room) {
  if (!counting) return false;
  ++calls;
  if (wanted == Fault::kDeath && calls >= wanted_at) {
    errno = EIO;
    return true;
  }
  if (wanted == Fault::kError && calls == wanted_at) {
    errno = wanted_error;
    return true;
  }
  if (wanted == Fault::kFull && calls >= wanted_at && needs_room) {
    errno = ENOSPC;
    return true;
  }
  return false;
}

/// How much of a write is done.
std::size_t share(std::size_t size) {
  const bool halved = counting && calls + 1 == wanted_at && (wanted == Fault::kFull || wanted == Fault::kShort);
  return halved && size > 1 ? size / 2 : size;
}

}  // namespace

void begin_faults(Fault fault, std::int64_t at, int error) {
  wanted = fault;
  wanted_at = at;
  wanted_error = error;
  calls = 0;
  counting = true;
}

std::int64_t end_faults() {
  counting = false;
  return calls;
}

void set_abilities(const Abilities& abilities) {
  able = abilities;
}

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  const bool writes = (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
  if (writes && fails(true)) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int descriptor, const void* data, size_t size) {
  const std::size_t part = share(size);
  if (part == size && fails(true)) return -1;
  if (part != size) ++calls;
  return ::syscall(SYS_write, descriptor, data, part);
}

int fsync(int descriptor) {
  return fails(true) ? -1 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int mkdir(const char* path, mode_t mode) noexcept {
  return fails(true) ? -1 : static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int rename(const char* from, const char* to) noexcept {
  return fails(false) ? -1 : static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned int flags) noexcept {
  if (fails(false)) return -1;
  if (!able.exchange && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}

int symlink(const char* target, const char* link) noexcept {
  if (fails(true)) return -1;
  if (!able.links) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_symlinkat, target, AT_FDCWD, link));
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  return fails(false) ? -1 : static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags));
}

int remove(const char* path) noexcept {
  if (fails(false)) return -1;
  const auto unlinked = static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (unlinked == 0 || errno != EISDIR) return unlinked;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"

}  // namespace lerobot::test
