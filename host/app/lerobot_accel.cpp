#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "host/accel/start.h"
#include "host/app/accel_check.h"
#include "host/app/accel_report.h"
#include "host/app/options.h"
#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/text.h"

namespace lerobot {
namespace {

constexpr std::string_view kHelp =
    R"(Which accelerator plugins are installed, and which one lerobot-train would use.

  lerobot-accel list [--verbose]     every plugin, with its devices or the reason why it cannot be used
  lerobot-accel explain [--json]     where plugins are looked for and how one is chosen
  lerobot-accel available NAME       exit code 0 when a device (type or type:N) or plugin can be used, else 1

  lerobot-accel check PLUGIN_DIR     whether a plugin keeps to the contract; see lerobot-accel check --help

Options of the first three
  --plugins=DIR[:DIR...]  look in these directories first
  --torch_dir=DIR         the torch of plugins that bring none
  --help                  this text

Environment: LEROBOT_ACCEL_PLUGINS, LEROBOT_ACCEL_ADD_PLUGINS, LEROBOT_ACCEL_DISABLE, LEROBOT_ACCEL_SELECT,
LEROBOT_TORCH_DIR, LEROBOT_ACCEL_PROBE_SECONDS (time limit of a probe, 10).
)";

const std::vector<std::string> kCommands = {"list", "explain", "available", "check"};

struct Arguments {
  std::vector<std::string> words;
  std::vector<std::string> plugin_directories;
  std::optional<std::string> torch_directory;
  bool verbose = false;
  bool json = false;
  bool help = false;
};

Arguments parse(const std::vector<std::string>& all) {
  Arguments arguments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& argument = all[i];
    if (argument == "--help" || argument == "-h") {
      arguments.help = true;
    } else if (argument == "--verbose" || argument == "-v") {
      arguments.verbose = true;
    } else if (argument == "--json") {
      arguments.json = true;
    } else if (auto directories = option_value("--plugins", all, i)) {
      arguments.plugin_directories.push_back(*directories);
    } else if (auto directory = option_value("--torch_dir", all, i)) {
      arguments.torch_directory = *directory;
    } else if (argument.starts_with("-")) {
      unknown_option(argument, {"--help", "--verbose", "--json", "--plugins", "--torch_dir"}, "lerobot-accel --help");
    } else {
      arguments.words.push_back(argument);
    }
  }
  return arguments;
}

/// Exit code 0 when a plugin that serves `name`, or is called so, is usable and has the index asked for.
int available(const std::string& name, const accel::SurveyOptions& options) {
  const accel::DeviceName device = accel::parse_device(name);
  const accel::Survey survey = accel::survey(options);
  int code = 1;
  for (const accel::Candidate& candidate : survey.candidates) {
    const bool named = candidate.package.id == device.type && candidate.state != accel::State::kShadowed;
    if (!named && !candidate.serves(device.type)) continue;
    std::cout << accel::describe(candidate, survey.variables) << '\n';
    const bool usable = candidate.state == accel::State::kUsable;
    if (usable && device.index.value_or(0) < candidate.probe.device_count) code = 0;
  }
  return code;
}

int run(const Arguments& arguments) {
  if (arguments.help) {
    std::cout << kHelp;
    return 0;
  }
  if (arguments.words.empty())
    fail(ErrorKind::kUsage, "a command is needed: {}. See lerobot-accel --help", join(kCommands, ", "));
  const std::string& command = arguments.words[0];
  if (std::ranges::find(kCommands, command) == kCommands.end()) {
    const auto near = nearest_name(command, kCommands);
    fail(ErrorKind::kUsage, "{}: unknown command{}. Commands: {}", command, near ? ", did you mean " + *near + "?" : "",
         join(kCommands, ", "));
  }
  const std::size_t words = command == "available" ? 2 : 1;
  if (arguments.words.size() != words) {
    fail(ErrorKind::kUsage, "{}: {} after it, {} needed. See lerobot-accel --help", command, arguments.words.size() - 1,
         words - 1);
  }
  accel::SurveyOptions options = accel::survey_options(arguments.plugin_directories, arguments.torch_directory);
  options.excluded.clear();
  if (command == "available") return available(arguments.words[1], options);
  options.hash_everything = command == "explain";
  const accel::Survey survey = accel::survey(options);
  if (command == "list") {
    print_list(std::cout, survey, arguments.verbose);
  } else if (arguments.json) {
    std::cout << json::write(explanation_json(survey, options.search)) << '\n';
  } else {
    print_explanation(std::cout, survey, options.search);
  }
  return 0;
}

}  // namespace
}  // namespace lerobot

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments[0] == "check") {
      return lerobot::run_check_command({arguments.begin() + 1, arguments.end()});
    }
    return lerobot::run(lerobot::parse(arguments));
  } catch (const lerobot::Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    return lerobot::exit_code(error.kind());
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return lerobot::exit_code(lerobot::ErrorKind::kInternal);
  }
}
