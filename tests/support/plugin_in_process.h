// A staged plugin in the test's own process, on the torch that the test links.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/accel/accelerator.h"

namespace lerobot::test {

/// The library of a plugin of the build tree: "cpu", or the path of another one.
std::string plugin_library(const std::string& id);

/// The table of a plugin, after the handshake; nothing is started. The library stays loaded: unloading a plugin is
/// never safe. Throws std::runtime_error.
lra_api plugin_table(const std::string& library);

/// Starts the plugin's device 0. `change` may alter the table first, as a plugin that has less would fill it.
/// Throws std::runtime_error.
std::unique_ptr<accel::Accelerator> start_in_process(const std::string& library,
                                                     const std::function<void(lra_api&)>& change = {});

}  // namespace lerobot::test
