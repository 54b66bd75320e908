#pragma once

#include "host/config/load.h"

namespace lerobot {

/// Policies and runs on the hub: --policy.path=org/name and --config_path=org/name.
config::HubNames hub_names();

}  // namespace lerobot
