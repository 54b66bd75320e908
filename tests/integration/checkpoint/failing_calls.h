#pragma once

#include <cstdint>

namespace lerobot::test {

/// What happens at one of the system calls that change the disk: open for writing, write, fsync, mkdir, rename,
/// renameat2, symlink, unlinkat, remove. The calls of every library of the process come by here (failing_calls.cpp
/// defines them in the program itself), but nothing is counted outside of begin() and end().
enum class Fault {
  kNone,
  kError,  ///< it fails with the given error
  kFull,   ///< a write stores half; it and all that needs room afterwards fail with ENOSPC
  kShort,  ///< a write stores half and says so
  kDeath,  ///< it and all that follow do nothing: the disk is as a kill before it would leave it
};

/// Counts from 1. `error` is an errno for kError.
void begin_faults(Fault fault, std::int64_t at, int error = 0);
/// The number of calls since begin_faults().
std::int64_t end_faults();

/// What the file system can do, from now on.
struct Abilities {
  bool exchange = true;  ///< renameat2 with RENAME_EXCHANGE
  bool links = true;
};
void set_abilities(const Abilities& abilities);

}  // namespace lerobot::test
