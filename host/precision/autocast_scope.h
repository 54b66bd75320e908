#pragma once

#include <cstdint>
#include <string_view>

#include "host/accel/accelerator.h"

namespace lerobot::precision {

/// The compute type of `--accelerator.mixed_precision`: "no" or "bf16". Parameters, gradients and optimizer state are
/// float32 in every mode. Throws Error(kConfig) for another name, and for a precision that the device lacks, with the
/// reason; call it before long work.
accel::Precision usable_precision(std::string_view mixed_precision, accel::Accelerator& accelerator);

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
