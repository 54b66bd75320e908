#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/accel/probe.h"
#include "host/accel/search.h"
#include "host/accel/torch_runtime.h"

namespace lerobot::check {

/// The package under check, as its files tell; no code of it has run.
struct Subject {
  accel::Package package;
  accel::TorchRuntime own_torch;     ///< the plugin's, with the reason when it cannot be used here
  accel::TorchRuntime torch;         ///< what the checks load before the plugin: its own, or a stand-in
  bool has_torch = false;            ///< `torch` can be loaded, or none is needed
  bool stand_in = false;             ///< `torch` is another package's of the same version, since its own is not here
  std::string unavailable;           ///< why device-dependent checks are skipped; empty: there is a usable device
  std::uint32_t probed_devices = 0;  ///< that the probe counted

  const accel::Manifest& manifest() const { return *package.manifest; }
};

/// Reads the package in `directory` (any directory with a manifest.json) and finds its torch among the installed
/// packages, those beside it, and `torch_directory`. A manifest that cannot be read is no error here: package.manifest
/// is empty then. Throws Error(kUsage) when there is no manifest.
Subject find_subject(const std::filesystem::path& directory, const std::optional<std::string>& torch_directory);

/// Asks the package's probe in a child process and fills `unavailable` and `probed_devices`.
/// Returns the probe's answer; an empty one for a package without a manifest.
accel::ProbeResult probe_subject(Subject& subject, std::chrono::milliseconds limit);

}  // namespace lerobot::check
