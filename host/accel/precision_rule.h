#pragma once

#include <cstdint>
#include <string>

#include "host/accel/accelerator.h"

namespace lerobot::accel {

enum class Verdict {
  kNative,
  kSlower,   ///< trains, and is worth a note: no faster than float32 here
  kRefused,  ///< the host does not train in it on this device
};

struct PrecisionVerdict {
  Verdict verdict = Verdict::kNative;
  std::string reason;  ///< why not native; when refused it ends with what to use: "Use fp16.", "Use bf16 or no."
};

/// Whether the host trains in `precision` on a device with these LRA_CAP_ bits. On the host's processor bf16 always
/// works where the device says so, and fp16 never does; an accelerator must compute in bf16 natively, while emulated
/// fp16 still saves memory.
PrecisionVerdict judge_precision(Precision precision, std::uint64_t capabilities);

/// What training gets from a device with these bits, in words, for one line: "float32; bf16 native; fp16 native, with
/// the gradient scaler; TF32 on (off with --tf32=false)".
std::string precision_summary(std::uint64_t capabilities);

}  // namespace lerobot::accel
