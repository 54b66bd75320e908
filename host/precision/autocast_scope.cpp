#include "host/precision/autocast_scope.h"

#include "host/base/error.h"
#include "host/base/log.h"

namespace lerobot::precision {
namespace {

accel::Precision precision_from(std::string_view name) {
  if (name == "no") return accel::Precision::kFloat32;
  if (name == "bf16") return accel::Precision::kBFloat16;
  fail(ErrorKind::kConfig, "--accelerator.mixed_precision={} is not supported yet: use no or bf16", name);
}

}  // namespace

accel::Precision usable_precision(std::string_view mixed_precision, accel::Accelerator& accelerator) {
  const accel::Precision precision = precision_from(mixed_precision);
  if (precision == accel::Precision::kFloat32) return precision;
  const accel::AutocastSupport support = accelerator.autocast_query(precision);
  const std::string& device = accelerator.torch_device();
  const bool accelerated = (accelerator.device_info().capabilities & LRA_CAP_HOST_PROCESSOR) == 0;
  if (support.support == accel::Support::kNone || (support.support == accel::Support::kEmulated && accelerated)) {
    fail(ErrorKind::kConfig,
         "--accelerator.mixed_precision={}: device {} does not compute in it natively ({}). Use no.", mixed_precision,
         device, support.reason);
  }
  if (support.support == accel::Support::kEmulated) {
    log::warn("{} on {} is slower than float32 here: {}", mixed_precision, device, support.reason);
  }
  return precision;
}

AutocastScope::AutocastScope(accel::Accelerator& accelerator, accel::Precision precision) : accelerator_(accelerator) {
  if (precision != accel::Precision::kFloat32) token_ = accelerator.autocast_enter(precision);
}

AutocastScope::~AutocastScope() {
  if (token_ == 0) return;
  try {
    accelerator_.autocast_exit(token_);
  } catch (const std::exception& error) {
    log::error("leaving autocast failed: {}", error.what());
  }
}

}  // namespace lerobot::precision
