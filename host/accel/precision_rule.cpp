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

}  // namespace lerobot::accel
