// What the simulated accelerator did, for tests to read: also from another process, also after the trainer was killed.
#pragma once

#include <atomic>
#include <cstdint>

#include "controls.h"

namespace lerobot::simaccel {

using Count = std::atomic<std::uint64_t>;

/// Types in which matrix products and convolutions are counted; others are not.
enum class NumberType : std::uint32_t { kFloat32, kFloat16, kBFloat16 };
inline constexpr std::uint32_t kNumberTypes = 3;

/// One count for each NumberType.
struct CountsByType {
  Count counts[kNumberTypes];
  Count& operator[](NumberType type) { return counts[static_cast<std::uint32_t>(type)]; }
};

struct DeviceCounters {
  Count operators;
  Count allocations;
  Count bytes;  ///< in use now
  Count peak_bytes;
  Count unscales;
  Count synchronizations;
  CountsByType products;      ///< matrix products, forward and backward
  CountsByType convolutions;  ///< likewise
  Count reads;                ///< for which the host waits for a value: copies to it, single values, sizes of results
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
  Count tf32_matmul;       ///< LRA_TF32_OFF or _ON; 0 where there is no TF32
  Count tf32_convolution;  ///< likewise
  Count tf32_sets;         ///< successful calls of tf32_set
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
