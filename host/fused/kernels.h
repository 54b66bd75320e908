#pragma once

namespace lerobot {

/// How a run computes what there are two ways for. Chosen once, when it starts.
enum class Kernels {
  kReference,  ///< torch's operators and random numbers in Python's order: a seed gives Python's numbers
  kFast,       ///< host/fused, on the CPU in float32: other masks of the same distribution, no work without effect
};

}  // namespace lerobot
