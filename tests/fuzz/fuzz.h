#pragma once

#include <cstddef>
#include <cstdint>

/// The entry of a fuzz target, as libFuzzer calls it. Ends the process when it finds a defect; returns 0 otherwise.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lerobot::test {

/// Ends the process unless `truth`: what a target expects of the code under test.
inline void require(bool truth) {
  if (!truth) __builtin_trap();
}

}  // namespace lerobot::test
