#include "host/accel/choice.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "host/accel/backends.h"
#include "host/accel/visibility.h"
#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace {

/// A program's processor, as opposed to an accelerator.
bool is_cpu(const Candidate& candidate) {
  return candidate.serves(std::string(kProcessor));
}

std::string list_of(const Survey& survey, const std::vector<const Candidate*>& candidates) {
  std::vector<std::string> lines;
  for (const Candidate* candidate : candidates) lines.push_back(describe(*candidate, survey.variables));
  return join(lines, " | ");
}

/// Candidates that a message about a failed request should list: those that were asked and are not usable.
std::vector<const Candidate*> rejected(const Survey& survey) {
  std::vector<const Candidate*> list;
  for (const Candidate& candidate : survey.candidates) {
    const bool asked = candidate.state != State::kNotAsked && candidate.state != State::kShadowed;
    if (asked && candidate.state != State::kUsable) list.push_back(&candidate);
  }
  return list;
}

std::string device_names(const Candidate& candidate) {
  std::vector<std::string> names;
  for (const ProbedDevice& device : candidate.probe.devices) names.push_back(device.name);
  return join(names, ", ");
}

/// Which of the plugin's devices: the index asked for, else the local rank. Host processors are all device 0.
std::uint32_t pick_device(const Candidate& candidate, const std::optional<std::uint32_t>& index,
                          const DeviceRequest& request) {
  const std::uint32_t count = candidate.probe.device_count;
  if (index) {
    if (*index < count) return *index;
    fail(ErrorKind::kDevice, "device index {} of {}: it has {} visible device{} ({}). Use an index below {}", *index,
         candidate.package.id, count, count == 1 ? "" : "s", device_names(candidate), count);
  }
  if (is_cpu(candidate)) return 0;
  if (request.local_world > count) {
    fail(ErrorKind::kDevice,
         "{} processes on this machine, {} visible device{} of {} ({}). Start at most one process for each device",
         request.local_world, count, count == 1 ? "" : "s", candidate.package.id, device_names(candidate));
  }
  if (request.local_rank < count) return request.local_rank;
  fail(ErrorKind::kDevice, "LOCAL_RANK is {}, {} has {} visible device{}", request.local_rank, candidate.package.id,
       count, count == 1 ? "" : "s");
}

std::string device_of(const Candidate& candidate, std::uint32_t device) {
  const auto& devices = candidate.probe.devices;
  return device < devices.size() && !devices[device].name.empty() ? devices[device].name : format("device {}", device);
}

const Candidate* first_usable(const Survey& survey, const std::optional<std::string>& type, bool automatic_only) {
  const auto found = std::ranges::find_if(survey.candidates, [&](const Candidate& candidate) {
    return candidate.state == State::kUsable && (!type || candidate.serves(*type)) &&
           (!automatic_only || candidate.automatic());
  });
  return found == survey.candidates.end() ? nullptr : &*found;
}

std::vector<std::string> known_types(const Survey& survey) {
  std::set<std::string> types;
  for (const Candidate& candidate : survey.candidates) {
    if (candidate.package.manifest)
      types.insert(candidate.package.manifest->device_types.begin(), candidate.package.manifest->device_types.end());
  }
  return {types.begin(), types.end()};
}

/// No usable plugin serves the device asked for: every candidate with reason and cure.
std::string why_not(const Survey& survey, const std::string& type) {
  const std::vector<std::string> types = known_types(survey);
  if (std::ranges::find(types, type) == types.end()) {
    const auto near = nearest_name(type, types);
    return format("no installed plugin serves {}{}. Installed ones serve: {}. lerobot-accel explain says more", type,
                  near ? " (did you mean " + *near + "?)" : "", types.empty() ? "nothing" : join(types, ", "));
  }
  std::vector<const Candidate*> serving;
  for (const Candidate* candidate : rejected(survey)) {
    if (candidate->serves(type)) serving.push_back(candidate);
  }
  return list_of(survey, serving);
}

Choice chosen(const Candidate& candidate, std::uint32_t device, std::string_view how) {
  Choice choice;
  choice.candidate = &candidate;
  choice.device = device;
  choice.why = format("{} through plugin {} {} ({})", device_of(candidate, device), candidate.package.id,
                      candidate.package.manifest->version, how);
  return choice;
}

/// The warning when training goes to the processor although the machine has an accelerator.
std::optional<std::string> unused_accelerator(const Survey& survey) {
  const std::string seen = seen_accelerators(survey.hardware);
  if (seen.empty()) return std::nullopt;
  std::vector<const Candidate*> others;
  for (const Candidate* candidate : rejected(survey)) {
    if (!is_cpu(*candidate)) others.push_back(candidate);
  }
  std::string why = list_of(survey, others);
  for (const Backend& backend : kBackends) {
    const auto is_its = [&](const Candidate& candidate) { return candidate.package.id == backend.id; };
    if (!shows(survey.hardware, backend) || std::ranges::any_of(survey.candidates, is_its)) continue;
    why += format("{}the plugin {} for {} is not installed", why.empty() ? "" : " | ", backend.id, backend.vendor);
  }
  if (why.empty()) why = "no plugin for it is installed";
  return format("This machine has an accelerator ({}), but training runs on the CPU: {}", seen, why);
}

Choice choose_automatically(const Survey& survey, const DeviceRequest& request) {
  const Candidate* candidate = first_usable(survey, std::nullopt, true);
  if (!candidate) {
    const auto others = rejected(survey);
    fail(ErrorKind::kDevice, "no usable device: {}",
         others.empty() ? "no plugin is installed. Install one, or name its directory with --plugins"
                        : list_of(survey, others));
  }
  Choice choice = chosen(*candidate, pick_device(*candidate, std::nullopt, request), "chosen automatically");
  choice.replaceable = true;
  if (is_cpu(*candidate)) {
    if (auto warning = unused_accelerator(survey)) choice.warnings.push_back(std::move(*warning));
  }
  for (const Candidate& other : survey.candidates) {
    if (other.state == State::kExcluded) choice.warnings.push_back("Not used: " + describe(other, survey.variables));
  }
  return choice;
}

Choice choose_plugin(const Survey& survey, const DeviceRequest& request) {
  const auto same_id = [&](const Candidate& c) {
    return c.package.id == *request.plugin && c.state != State::kShadowed;
  };
  const auto found = std::ranges::find_if(survey.candidates, same_id);
  if (found == survey.candidates.end()) {
    std::vector<std::string> ids;
    for (const Candidate& candidate : survey.candidates) ids.push_back(candidate.package.id);
    fail(ErrorKind::kDevice, "--plugin={}: not installed. Installed: {}", *request.plugin,
         ids.empty() ? "none" : join(ids, ", "));
  }
  if (found->state != State::kUsable)
    fail(ErrorKind::kDevice, "--plugin={}: {}", *request.plugin, describe(*found, survey.variables));
  DeviceName name;
  if (request.device && !request.device->empty()) {
    name = parse_device(*request.device);
    if (!found->serves(name.type)) {
      fail(ErrorKind::kDevice, "--plugin={} serves {}, the device is {}. Change one of the two", *request.plugin,
           join(found->package.manifest->device_types, ", "), *request.device);
    }
  }
  return chosen(*found, pick_device(*found, name.index, request), "--plugin");
}

Choice choose_stored(const Survey& survey, const DeviceRequest& request) {
  std::string problem;
  try {
    const DeviceName name = parse_device(*request.device);
    if (const Candidate* candidate = first_usable(survey, name.type, false)) {
      Choice choice =
          chosen(*candidate, pick_device(*candidate, name.index, request), "the stored device " + *request.device);
      choice.replaceable = true;
      return choice;
    }
    problem = why_not(survey, name.type);
  } catch (const Error& error) {
    problem = error.what();
  }
  Choice choice = choose_automatically(survey, request);
  choice.warnings.insert(choice.warnings.begin(),
                         format("The stored device {} is not available, {} is used instead: {}", *request.device,
                                device_of(*choice.candidate, choice.device), problem));
  return choice;
}

}  // namespace

DeviceName parse_device(const std::string& text) {
  DeviceName name;
  const std::size_t colon = text.find(':');
  name.type = text.substr(0, colon);
  const auto is_lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  bool good = !name.type.empty() && std::ranges::all_of(name.type, is_lower);
  if (good && colon != std::string::npos) {
    std::uint32_t index = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, index);
    good = error == std::errc() && stop == end;
    name.index = index;
  }
  if (!good) {
    fail(ErrorKind::kUsage,
         "{} is not a device. Write a type in lower case, or type:index; lerobot-accel list shows the types",
         shell_quote(text));
  }
  return name;
}

Choice choose(const Survey& survey, const DeviceRequest& request) {
  if (request.plugin) return choose_plugin(survey, request);
  if (!request.device || request.device->empty()) return choose_automatically(survey, request);
  if (!request.typed) return choose_stored(survey, request);
  const DeviceName name = parse_device(*request.device);
  const Candidate* candidate = first_usable(survey, name.type, false);
  if (!candidate) fail(ErrorKind::kDevice, "--policy.device={}: {}", *request.device, why_not(survey, name.type));
  return chosen(*candidate, pick_device(*candidate, name.index, request), "--policy.device=" + *request.device);
}

std::string describe(const Candidate& candidate, const Variables& variables) {
  std::string line = format("{}: {}", candidate.package.id, state_name(candidate.state));
  if (!candidate.reason.empty()) line += ": " + candidate.reason;
  if (candidate.state == State::kUnavailable && candidate.package.manifest) {
    const Manifest& manifest = *candidate.package.manifest;
    const std::string hidden = visibility_variables(manifest, variables);
    const auto is_said = [&](const std::string& name) { return candidate.reason.find(name) != std::string::npos; };
    if (!hidden.empty() && std::ranges::none_of(manifest.visible_devices, is_said))
      line += format(" (set: {})", hidden);
  }
  if (!candidate.cure.empty()) line += ". " + candidate.cure;
  return line;
}

}  // namespace lerobot::accel
