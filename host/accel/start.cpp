#include "host/accel/start.h"

#include <algorithm>
#include <charconv>

#include "host/accel/activate.h"
#include "host/accel/crash_guard.h"
#include "host/accel/restart.h"
#include "host/base/error.h"
#include "host/base/log.h"

namespace lerobot::accel {
namespace {

std::optional<std::uint32_t> number_in(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  std::uint32_t value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc() || stop != end)
    fail(ErrorKind::kConfig, "{}={}: a whole number is needed", name, found->second);
  return value;
}

/// The first survey asks only plugins that serve the device asked for, so that with cpu nothing of an accelerator runs.
/// A stored device that is not to be had needs a second one.
Survey survey_for(SurveyOptions options, const DeviceRequest& request) {
  options.plugin = request.plugin;
  if (!request.plugin && request.device && !request.device->empty()) {
    try {
      options.device_type = parse_device(*request.device).type;
    } catch (const Error&) {
      if (request.typed) throw;
    }
  }
  Survey found = survey(options);
  const auto usable = [](const Candidate& candidate) { return candidate.state == State::kUsable; };
  if (request.typed || !options.device_type || std::ranges::any_of(found.candidates, usable)) return found;
  options.device_type.reset();
  return survey(options);
}

std::vector<std::string> rejected_lines(const Survey& survey) {
  std::vector<std::string> lines;
  for (const Candidate& candidate : survey.candidates) {
    const State state = candidate.state;
    if (state == State::kUsable || state == State::kNotAsked || state == State::kShadowed) continue;
    lines.push_back(describe(candidate, survey.variables));
  }
  return lines;
}

}  // namespace

void read_local_rank(const Variables& variables, DeviceRequest& request) {
  if (const auto rank = number_in(variables, "LOCAL_RANK")) request.local_rank = *rank;
  if (const auto world = number_in(variables, "LOCAL_WORLD_SIZE")) request.local_world = *world;
}

SurveyOptions survey_options(const std::vector<std::string>& plugin_directories,
                             const std::optional<std::string>& torch_directory) {
  SurveyOptions options;
  options.search.command_line = plugin_directories;
  options.torch.directory = torch_directory;
  options.excluded = excluded_plugins(options.search.variables);
  if (const auto seconds = number_in(options.search.variables, "LEROBOT_ACCEL_PROBE_SECONDS")) {
    options.probe_limit = std::chrono::seconds(std::clamp<std::uint32_t>(*seconds, 1, 3600));
  }
  return options;
}

Started start(const StartOptions& options) {
  const SurveyOptions survey_settings = survey_options(options.plugin_directories, options.torch_directory);
  DeviceRequest request = options.request;
  read_local_rank(survey_settings.search.variables, request);
  const Survey found = survey_for(survey_settings, request);
  const Choice choice = choose(found, request);
  for (const std::string& warning : choice.warnings) log::warn("{}", warning);
  log::info("Device: {}", choice.why);
  Started started;
  started.rejected = rejected_lines(found);
  try {
    const CrashGuard guard(choice.candidate->package.id, choice.replaceable);
    started.accelerator = activate(*choice.candidate, choice.device);
  } catch (const Error& error) {
    const std::string& id = choice.candidate->package.id;
    if (!choice.replaceable) fail(error.kind(), "plugin {}: {}", id, error.what());
    log::warn("Plugin {} does not start. Starting again without it: {}", id, error.what());
    restart_without(id, error.what());
  }
  started.torch = choice.candidate->checked.torch;
  return started;
}

}  // namespace lerobot::accel
