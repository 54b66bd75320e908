#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/accel/accelerator.h"

namespace lerobot::precision {

/// The compute type of `--accelerator.mixed_precision`: "no", "bf16" or "fp16". Parameters, gradients and optimizer
/// state are float32 in every mode. Throws Error(kConfig) with the reason and what to use instead when the device does
/// not train in it; `rejected` (one line for each plugin that was not usable) is part of that message when the device
/// is a processor: the real cause may be an accelerator that was not seen. Call it before long work.
accel::Precision usable_precision(std::string_view mixed_precision, accel::Accelerator& accelerator,
                                  const std::vector<std::string>& rejected);

/// "float32", "bf16 autocast", "fp16 autocast".
std::string_view precision_name(accel::Precision precision);

/// Does what `--tf32` asks: true switches TF32 on for matrix products and convolutions where the device has it, false
/// off for both, null touches nothing. Returns the state read back, for the start-up log: "TF32 on", "TF32 off", "TF32
/// on for convolutions only", "no TF32 on this device". Call it before the first kernel.
std::string set_tf32(std::optional<bool> tf32, accel::Accelerator& accelerator);

}  // namespace lerobot::precision
