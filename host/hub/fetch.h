#pragma once

#include "host/hub/hub.h"
#include "host/hub/settings.h"

namespace lerobot::hub {

/// hub::fetch with these settings.
Fetched fetch_files(const Request& request, const Settings& settings);

}  // namespace lerobot::hub
