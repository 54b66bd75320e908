#include "host/precision/autocast_scope.h"

#include "host/base/log.h"

namespace lerobot::precision {

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
