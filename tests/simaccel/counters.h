// What the simulated accelerator did, for tests to read: also from another process, also after the trainer was killed.
#pragma once

#include <atomic>
#include <cstdint>

#include "controls.h"

namespace lerobot::simaccel {

using Count = std::atomic<std::uint64_t>;

struct DeviceCounters {
  Count operators;
  Count allocations;
  Count bytes;  ///< in use now
  Count peak_bytes;
  Count unscales;
  Count synchronizations;
};

struct ThreadCounters {
  Count thread;  ///< the kernel's id of the thread; 0: a free slot
  Count operators[kMaxDevices];
  Count allocations[kMaxDevices];
};

inline constexpr std::uint32_t kMaxThreads = 64;

/// Fixed layout, all numbers: the content of the file that LEROBOT_SIMACCEL_COUNTERS names.
struct Counters {
  Count inits;
  DeviceCounters devices[kMaxDevices];
  ThreadCounters threads[kMaxThreads];
};

/// This process's counters, in the file that LEROBOT_SIMACCEL_COUNTERS names if it is set.
Counters& counters();

/// The counters in a file, which is made if need be. They stay mapped. Throws std::system_error.
Counters& map_counters(const char* path);

/// Counts an operator or an allocation for the device and for the calling thread. Returns its number over all devices,
/// from 1.
std::uint64_t count_operator(int device);
std::uint64_t count_allocation(int device);

}  // namespace lerobot::simaccel
