#pragma once

#include <cstdint>
#include <string_view>

#include "host/accel/activate.h"

namespace lerobot::precision {

/// What the forward pass computes in. Parameters, gradients and optimizer state are float32 in every mode.
enum class Precision { kFloat32, kBFloat16 };

/// "no" or "bf16"; anything else is an Error(kConfig).
Precision precision_from(std::string_view mixed_precision);

/// Autocast for the lifetime of the scope; the previous state returns even when the step throws. Nothing for kFloat32.
/// Leave it before the backward pass.
class AutocastScope {
 public:
  AutocastScope(accel::Accelerator& accelerator, Precision precision);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  accel::Accelerator& accelerator_;
  bool entered_;
  std::uint64_t token_ = 0;
};

/// Throws Error(kConfig), with the reason, when the device cannot compute in this precision. Call before long work.
void require_precision(accel::Accelerator& accelerator, Precision precision);

}  // namespace lerobot::precision
