#pragma once

#include <malloc.h>

namespace lerobot::train {

/// Tensors of a step are freed and allocated again and again: giving their pages back to the system each time, as
/// malloc does by default, costs tens of thousands of page faults a step.
inline void keep_freed_memory() {
  constexpr int kLarge = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
}

}  // namespace lerobot::train
