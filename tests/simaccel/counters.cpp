#include "counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace lerobot::simaccel {
namespace {

[[noreturn]] void refuse(const char* path) {
  throw std::system_error(errno, std::generic_category(), path);
}

/// The calling thread's slot. A thread past the last one shares that.
ThreadCounters& thread_counters() {
  thread_local ThreadCounters* const slot = [] {
    const auto self = static_cast<std::uint64_t>(gettid());
    ThreadCounters* last = nullptr;
    for (ThreadCounters& candidate : counters().threads) {
      std::uint64_t free = 0;
      last = &candidate;
      if (candidate.thread.compare_exchange_strong(free, self)) break;
    }
    return last;
  }();
  return *slot;
}

}  // namespace

Counters& map_counters(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Counters)) != 0) refuse(path);
  void* memory = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) refuse(path);
  return *static_cast<Counters*>(memory);  // zeros of a new file are zeros of every counter
}

Counters& counters() {
  static Counters unnamed{};
  static Counters& all = [&]() -> Counters& {
    const char* path = std::getenv("LEROBOT_SIMACCEL_COUNTERS");
    return path == nullptr ? unnamed : map_counters(path);
  }();
  return all;
}

std::uint64_t count_operator(int device) {
  static Count total{0};
  ++counters().devices[device].operators;
  ++thread_counters().operators[device];
  return ++total;
}

std::uint64_t count_allocation(int device) {
  static Count total{0};
  ++counters().devices[device].allocations;
  ++thread_counters().allocations[device];
  return ++total;
}

}  // namespace lerobot::simaccel
