#include "host/precision/training_precision.h"

#include "host/accel/precision_rule.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::precision {
namespace {

using accel::Precision;

Precision precision_from(std::string_view name) {
  if (name == "bf16") return Precision::kBFloat16;
  if (name == "fp16") return Precision::kFloat16;
  return Precision::kFloat32;
}

/// The rule over the capability bits, unless the plugin knows better: what it cannot enter is refused.
accel::PrecisionVerdict judge(Precision precision, accel::Accelerator& accelerator) {
  accel::PrecisionVerdict verdict = accel::judge_precision(precision, accelerator.device_info().capabilities);
  if (verdict.verdict == accel::Verdict::kRefused) return verdict;
  const accel::AutocastSupport support = accelerator.autocast_query(precision);
  if (support.support == accel::Support::kNone) return {accel::Verdict::kRefused, support.reason};
  if (!support.reason.empty()) verdict.reason = support.reason;
  return verdict;
}

[[noreturn]] void refuse(std::string_view mixed_precision, const accel::Accelerator& accelerator,
                         const std::string& reason, const std::vector<std::string>& rejected) {
  const bool is_processor = (accelerator.device_info().capabilities & LRA_CAP_HOST_PROCESSOR) != 0;
  std::string others;
  if (is_processor && !rejected.empty()) others = " No accelerator was usable: " + join(rejected, " | ");
  fail(ErrorKind::kConfig, "--accelerator.mixed_precision={}: {} ({}): {}{}", mixed_precision,
       accelerator.torch_device(), accelerator.device_info().name, reason, others);
}

std::string tf32_text(const std::optional<accel::Tf32State>& state) {
  if (!state) return "no TF32 on this device";
  const bool matmul = state->matmul == accel::Tf32::kOn;
  const bool convolution = state->convolution == accel::Tf32::kOn;
  if (matmul == convolution) return matmul ? "TF32 on" : "TF32 off";
  return matmul ? "TF32 on for matrix products only" : "TF32 on for convolutions only";
}

}  // namespace

Precision usable_precision(std::string_view mixed_precision, accel::Accelerator& accelerator,
                           const std::vector<std::string>& rejected) {
  const Precision precision = precision_from(mixed_precision);
  const accel::PrecisionVerdict verdict = judge(precision, accelerator);
  if (verdict.verdict == accel::Verdict::kRefused) refuse(mixed_precision, accelerator, verdict.reason, rejected);
  if (verdict.verdict == accel::Verdict::kSlower) {
    log::warn("{} on {}: {}", mixed_precision, accelerator.torch_device(), verdict.reason);
  }
  return precision;
}

std::string_view precision_name(Precision precision) {
  switch (precision) {
    case Precision::kBFloat16:
      return "bf16 autocast";
    case Precision::kFloat16:
      return "fp16 autocast";
    case Precision::kFloat32:
      break;
  }
  return "float32";
}

std::string set_tf32(std::optional<bool> tf32, accel::Accelerator& accelerator) {
  const bool has_tf32 = (accelerator.device_info().capabilities & LRA_CAP_TF32) != 0;
  if (tf32 && (has_tf32 || !*tf32)) {
    const accel::Tf32 setting = *tf32 ? accel::Tf32::kOn : accel::Tf32::kOff;
    accelerator.tf32_set({.matmul = setting, .convolution = setting});
  }
  return tf32_text(has_tf32 ? accelerator.tf32_get() : std::nullopt);
}

}  // namespace lerobot::precision
