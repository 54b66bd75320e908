// The operators that no fallback can do: making memory, copies between devices, convolutions, and those that the
// controls change.
#pragma once

namespace lerobot::simaccel {

/// Registers them. Once per process.
void register_kernels();

/// Registers autocast's casts, by torch's own lists. Once per process.
void register_autocast();

}  // namespace lerobot::simaccel
