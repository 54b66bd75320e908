#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/accel/hardware.h"
#include "host/accel/probe.h"
#include "host/accel/search.h"
#include "host/accel/static_checks.h"

namespace lerobot::accel {

/// How far a plugin came.
enum class State {
  kUsable,       ///< its probe found a device
  kUnavailable,  ///< its probe says no, or failed
  kUnfit,        ///< a static check failed
  kLeftOut,      ///< by LEROBOT_ACCEL_DISABLE or _SELECT
  kExcluded,     ///< its activation failed in this run, which was restarted without it
  kShadowed,     ///< another package of the same id was found earlier
  kNotAsked,     ///< serves other device types than the one asked for
};

/// "usable", "unavailable", "unfit", ...
std::string_view state_name(State state);

/// A plugin package with the verdict on it.
struct Candidate {
  Package package;
  State state = State::kUnfit;
  std::string reason;  ///< why it is not usable; one line
  std::string cure;    ///< what the user can do; may be empty, or part of the reason
  CheckedPlugin checked;
  ProbeResult probe;

  bool automatic() const { return package.manifest && package.manifest->automatic; }
  bool serves(const std::string& device_type) const;
};

struct SurveyOptions {
  SearchOptions search;
  TorchOptions torch;
  std::optional<std::string> device_type;  ///< ask only plugins that serve it: the others are not even probed
  std::optional<std::string> plugin;       ///< ask only this one
  std::chrono::milliseconds probe_limit = kProbeLimit;
  std::map<std::string, std::string> excluded;  ///< plugin id -> why its activation failed (restart.h)
  bool hash_everything = false;
};

/// All that was found, in the order in which `auto` would take them: cuda, rocm, mps, xpu, third parties by priority
/// and id, cpu.
struct Survey {
  std::vector<Candidate> candidates;
  std::vector<Package> torch_packages;
  HardwareScan hardware;
  Variables variables;
};

/// Finds, checks and probes. Never fails because of a package; throws only what find_packages throws.
Survey survey(const SurveyOptions& options);

/// What the user or a stored configuration asks for.
struct DeviceRequest {
  std::optional<std::string> device;  ///< "type" or "type:index"; none or empty: auto
  bool typed = false;                 ///< on the command line: honoured or refused, never replaced
  std::optional<std::string> plugin;  ///< --plugin: honoured or refused
  std::uint32_t local_rank = 0;       ///< a bare type means this index in a distributed run
  std::uint32_t local_world = 1;      ///< processes of the run on this machine
};

/// A device name in two parts. Throws Error(kUsage) when `text` is not `type` or `type:index` in lower case.
struct DeviceName {
  std::string type;
  std::optional<std::uint32_t> index;
};
DeviceName parse_device(const std::string& text);

struct Choice {
  const Candidate* candidate = nullptr;
  std::uint32_t device = 0;           ///< ordinal among the plugin's visible devices
  std::string why;                    ///< one line, for the log
  std::vector<std::string> warnings;  ///< for the log, in order
  bool replaceable = false;           ///< auto or a stored preference: when activation fails, another may be taken
};

/// Chooses among the survey's candidates; `result.candidate` points into it.
/// Throws Error(kDevice) that lists each candidate with reason and cure when a typed device or a plugin asked for is
/// not to be had, or when auto finds nothing.
Choice choose(const Survey& survey, const DeviceRequest& request);

/// One line for a candidate: "cuda: unavailable: no driver... CURE".
std::string describe(const Candidate& candidate, const Variables& variables);

}  // namespace lerobot::accel
