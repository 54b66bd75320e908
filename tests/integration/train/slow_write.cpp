// To be preloaded: a write of more than a page takes at least SLOW_WRITE_MS milliseconds (one, where that is not set),
// as to a busy disk. A checkpoint of hundreds of tensors then takes longer than many steps of a small network.

#include <stdlib.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
  constexpr size_t kPage = 4096;
  static const char* asked = getenv("SLOW_WRITE_MS");
  static const timespec delay{.tv_sec = 0, .tv_nsec = (asked == nullptr ? 1 : atol(asked)) * 1'000'000};
  if (size > kPage) nanosleep(&delay, nullptr);
  return syscall(SYS_write, descriptor, data, size);
}
