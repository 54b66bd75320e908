// ONEAPI_DEVICE_SELECTOR: which GPUs torch's SYCL run time lets through.
#pragma once

#include <string>

namespace lerobot::plugins::xpu {

/// Whether a value of ONEAPI_DEVICE_SELECTOR lets Level Zero's GPU number `index` through.
bool selects(const std::string& selector, std::size_t index);

}  // namespace lerobot::plugins::xpu
