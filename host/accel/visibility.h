#pragma once

#include <string>

#include "host/accel/search.h"

namespace lerobot::accel {

/// Those of the manifest's visible_devices that are set, in the order in which the vendor applies them, as
/// "A_VISIBLE_DEVICES=0,1, then B_VISIBLE_DEVICES=1"; empty when none is. Evidence for a message: how many devices are
/// left is the vendor's runtime to say, and what the values mean the plugin's probe.
std::string visibility_variables(const Manifest& manifest, const Variables& variables);

}  // namespace lerobot::accel
