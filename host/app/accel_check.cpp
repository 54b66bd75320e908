#include "host/app/accel_check.h"

#include <charconv>
#include <iostream>

#include "host/app/options.h"
#include "host/base/error.h"
#include "host/base/json.h"
#include "host/check/report.h"

namespace lerobot {
namespace {

constexpr std::string_view kHelp =
    R"(Checks a plugin package against the contract, each check in a process of its own.

  lerobot-accel check PLUGIN_DIR [options]

  --level=N             1 the files, 2 and the binary interface, 3 and behaviour, 4 and numbers (default 4)
  --only=GLOB           only the checks whose names match, e.g. 'abi.*'
  --json                the report as JSON (docs/conformance.md)
  --list                the checks with their promises; runs nothing
  --torch_dir=DIR       the torch of a plugin that brings none
  --time_limit=SECONDS  for each check (default 60)
  --jobs=N              checks at the same time (default 2)
  --help                this text

What needs a device is skipped, with the probe's reason, where there is none.
Exit code: 0 nothing failed, 1 a check failed, 2 the command line.
)";

const std::vector<std::string> kOptions = {"--level",     "--only",       "--json", "--list",
                                           "--torch_dir", "--time_limit", "--jobs", "--help"};

struct Arguments {
  check::Options options;
  std::vector<std::string> directories;
  bool json = false;
  bool list = false;
  bool help = false;
};

std::uint32_t number(std::string_view name, const std::string& text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) {
    fail(ErrorKind::kUsage, "{}={}: a whole number from {} to {} is needed", name, text, least, most);
  }
  return value;
}

Arguments parse(const std::vector<std::string>& all) {
  Arguments arguments;
  check::Options& options = arguments.options;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& argument = all[i];
    if (argument == "--help" || argument == "-h") {
      arguments.help = true;
    } else if (argument == "--json") {
      arguments.json = true;
    } else if (argument == "--list") {
      arguments.list = true;
    } else if (auto level = option_value("--level", all, i)) {
      options.level = static_cast<check::Level>(number("--level", *level, 1, 4));
    } else if (auto only = option_value("--only", all, i)) {
      options.only = *only;
    } else if (auto torch = option_value("--torch_dir", all, i)) {
      options.torch_directory = *torch;
    } else if (auto seconds = option_value("--time_limit", all, i)) {
      options.limit = std::chrono::seconds(number("--time_limit", *seconds, 1, 3600));
    } else if (auto jobs = option_value("--jobs", all, i)) {
      options.at_once = number("--jobs", *jobs, 1, 64);
    } else if (argument.starts_with("-")) {
      unknown_option(argument, kOptions, "lerobot-accel check --help");
    } else {
      arguments.directories.push_back(argument);
    }
  }
  return arguments;
}

}  // namespace

int run_check_command(const std::vector<std::string>& all) {
  Arguments arguments = parse(all);
  if (arguments.help) {
    std::cout << kHelp;
    return 0;
  }
  if (arguments.list) {
    check::print_checks(std::cout, check::chosen_checks(arguments.options));
    return 0;
  }
  if (arguments.directories.size() != 1) {
    fail(ErrorKind::kUsage, "check: {} directories given, 1 needed. See lerobot-accel check --help",
         arguments.directories.size());
  }
  arguments.options.directory = arguments.directories[0];
  if (!arguments.json) {
    arguments.options.on_start = [](const check::Report& report) { check::print_heading(std::cout, report); };
    arguments.options.on_result = [](const check::Result& result) { check::print_result(std::cout, result); };
  }
  const check::Report report = check::run_checks(arguments.options);
  if (arguments.json) {
    std::cout << json::write(check::report_json(report)) << '\n';
  } else {
    check::print_summary(std::cout, report);
  }
  return report.count(check::Verdict::Kind::kFail) == 0 ? 0 : 1;
}

}  // namespace lerobot
