#pragma once

#include <cstdint>

#include "host/accel/accelerator.h"

namespace lerobot::precision {

/// Autocast for the lifetime of the scope; the previous state returns even when the step throws. Nothing for float32.
/// Leave it before the backward pass.
class AutocastScope {
 public:
  AutocastScope(accel::Accelerator& accelerator, accel::Precision precision);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  accel::Accelerator& accelerator_;
  std::uint64_t token_ = 0;  ///< 0: not entered
};

}  // namespace lerobot::precision
