#pragma once

#include <memory>
#include <string>

#include "host/accel/accelerator.h"
#include "host/accel/choice.h"

namespace lerobot::accel {

/// Brings the chosen plugin into this process: opens its torch by absolute path in order, checks that torch's version,
/// that no other torch or OpenMP runtime is loaded, opens the plugin, shakes hands, starts it, makes the device current
/// on this thread and runs the selftest. Throws Error(kDevice). There is no second try in one process: a torch that was
/// loaded cannot be unloaded.
std::unique_ptr<Accelerator> activate(const Candidate& candidate, std::uint32_t device);

/// Opens the libraries of `torch` by absolute path in order and checks that they are the torch it promises and the only
/// one in this process. Returns its version, "2.11.0"; empty when the plugin uses no torch. Throws Error(kDevice).
std::string open_torch(const TorchRuntime& torch);

/// Opens the trainer library that fits `torch` (the one that activate loaded) and returns the address of
/// its function lerobot_trainer_run. Throws Error(kDevice) that names the versions present and how to build the
/// missing.
void* load_trainer(const TorchRuntime& torch);

/// "2.11.0" from what the C function aoti_torch_abi_version answers: one byte each from the top.
std::string torch_version_text(std::uint64_t abi_version);

}  // namespace lerobot::accel
