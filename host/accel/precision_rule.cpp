#include "host/accel/precision_rule.h"

namespace lerobot::accel {
namespace {

constexpr std::uint64_t kAnyFp16 = LRA_CAP_FP16_NATIVE | LRA_CAP_FP16_EMULATED;

bool has(std::uint64_t capabilities, std::uint64_t any_of) {
  return (capabilities & any_of) != 0;
}

PrecisionVerdict judge_bf16(std::uint64_t capabilities) {
  const bool processor = has(capabilities, LRA_CAP_HOST_PROCESSOR);
  const bool emulated = has(capabilities, LRA_CAP_BF16_EMULATED);
  if (has(capabilities, LRA_CAP_BF16_NATIVE)) return {Verdict::kNative, ""};
  if (processor && emulated) {
    return {Verdict::kSlower, "this processor has no bf16 instructions: bf16 works, but slower than float32"};
  }
  const std::string why = emulated ? "this device only emulates bf16, which is slower than float32"
                                   : std::string(processor ? "this processor" : "this device") + " has no bf16";
  return {Verdict::kRefused, why + (!processor && has(capabilities, kAnyFp16) ? ". Use fp16." : ". Use no.")};
}

PrecisionVerdict judge_fp16(std::uint64_t capabilities) {
  const bool processor = has(capabilities, LRA_CAP_HOST_PROCESSOR);
  if (!processor && has(capabilities, LRA_CAP_FP16_NATIVE)) return {Verdict::kNative, ""};
  if (!processor && has(capabilities, LRA_CAP_FP16_EMULATED)) {
    return {Verdict::kSlower, "this device has no fast fp16: it saves memory, not time"};
  }
  const bool bf16 = judge_bf16(capabilities).verdict != Verdict::kRefused;
  return {Verdict::kRefused, std::string(processor ? "fp16 needs an accelerator" : "this device has no fp16") +
                                 (bf16 ? ". Use bf16 or no." : ". Use no.")};
}

std::string bf16_summary(std::uint64_t capabilities) {
  switch (judge_bf16(capabilities).verdict) {
    case Verdict::kNative:
      return "bf16 native";
    case Verdict::kSlower:
      return "bf16 works, slower than float32 here";
    case Verdict::kRefused:
      break;
  }
  const bool fp16 = judge_fp16(capabilities).verdict != Verdict::kRefused;
  return std::string("bf16 refused (not native)") + (fp16 ? ", use fp16" : "");
}

std::string fp16_summary(std::uint64_t capabilities) {
  switch (judge_fp16(capabilities).verdict) {
    case Verdict::kNative:
      return "fp16 native, with the gradient scaler";
    case Verdict::kSlower:
      return "fp16 saves memory, not time, with the gradient scaler";
    case Verdict::kRefused:
      break;
  }
  return has(capabilities, LRA_CAP_HOST_PROCESSOR) ? "fp16 refused (no scaler on a processor)" : "fp16 refused (none)";
}

}  // namespace

PrecisionVerdict judge_precision(Precision precision, std::uint64_t capabilities) {
  switch (precision) {
    case Precision::kFloat32:
      return {Verdict::kNative, ""};
    case Precision::kBFloat16:
      return judge_bf16(capabilities);
    case Precision::kFloat16:
      return judge_fp16(capabilities);
  }
  return {Verdict::kRefused, "this precision is not known. Use no."};
}

std::string precision_summary(std::uint64_t capabilities) {
  return "float32; " + bf16_summary(capabilities) + "; " + fp16_summary(capabilities) + "; " +
         (has(capabilities, LRA_CAP_TF32) ? "TF32 on (off with --tf32=false)" : "no TF32");
}

}  // namespace lerobot::accel
