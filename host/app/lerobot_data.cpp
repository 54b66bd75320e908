#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>

#include "host/app/data_commands.h"
#include "host/app/data_root.h"
#include "host/app/options.h"
#include "host/base/affinity.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot {
namespace {

constexpr std::string_view kHelp =
    R"(What is in a LeRobot dataset, and whether it can be trained on.

  lerobot-data info DATASET            version, episodes, cameras, features, tasks, statistics, sizes
  lerobot-data check DATASET [--all]   what keeps it from being trained on, file by file, with the trainer's own code
  lerobot-data show DATASET FRAME      one frame of the dataset: its cameras as a picture, its numbers as text

DATASET is the folder that holds meta/ and data/, or the name (org/name) of one under $HF_LEROBOT_HOME or on the hub: it is downloaded
when it is not here, by info its meta/ only.
FRAME counts from 0 over the whole dataset; EPISODE:FRAME counts within an episode.

  --json             for programs: one JSON object (docs/datasets.md)
  --all              check: read every row and decode every frame of every camera, not the first
  --tolerance_s=S    check: how far a frame's time may be off, in seconds (default 1e-4)
  --window=A:B       show: the frames from A to B around it, side by side (default -2:2)
  --output=FILE      show: the PNG file (default <dataset>_<frame>.png here)
  --help             this text

Exit codes: 0 done, and with check the dataset is sound; 1 check found something; 2 the command line; 4 no such dataset, or, but for
check, one that cannot be read.
)";
constexpr std::string_view kSeeHelp = "lerobot-data --help";

const std::vector<std::string> kCommands = {"info", "check", "show"};
const std::vector<std::string> kOptions = {"--json", "--all", "--tolerance_s", "--window", "--output", "--help"};

struct Arguments {
  std::vector<std::string> words;
  ShowOptions show;
  std::vector<std::string> typed;  ///< options that belong to one command
  double tolerance_s = 1e-4;
  bool json = false, everything = false, help = false;
};

template <class Number>
Number number(std::string_view name, std::string_view text, std::string_view needed) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    fail(ErrorKind::kUsage, "{}: found {}, needed {}. See {}", name, text, needed, kSeeHelp);
  }
  return value;
}

/// "A:B" as two numbers.
std::pair<std::int64_t, std::int64_t> pair(std::string_view name, std::string_view text, std::string_view needed) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view second = colon == text.size() ? std::string_view() : text.substr(colon + 1);
  return {number<std::int64_t>(name, text.substr(0, colon), needed), number<std::int64_t>(name, second, needed)};
}

Arguments parse(const std::vector<std::string>& all) {
  Arguments arguments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& argument = all[i];
    const std::string name = argument.substr(0, argument.find('='));
    if (name != "--json") arguments.typed.push_back(name);
    if (argument == "--help" || argument == "-h") {
      arguments.help = true;
    } else if (argument == "--json") {
      arguments.json = true;
    } else if (argument == "--all") {
      arguments.everything = true;
    } else if (auto tolerance = option_value("--tolerance_s", all, i, kSeeHelp)) {
      arguments.tolerance_s = number<double>("--tolerance_s", *tolerance, "a number of seconds");
    } else if (auto window = option_value("--window", all, i, kSeeHelp)) {
      std::tie(arguments.show.first, arguments.show.last) = pair("--window", *window, "two numbers, A:B");
    } else if (auto output = option_value("--output", all, i, kSeeHelp)) {
      arguments.show.output = *output;
    } else if (argument.starts_with("-")) {
      unknown_option(argument, kOptions, kSeeHelp);
    } else {
      arguments.words.push_back(argument);
      arguments.typed.pop_back();
    }
  }
  return arguments;
}

/// What a command does not have is refused, not ignored.
void check_options(const std::string& command, const Arguments& arguments) {
  const std::vector<std::string> known = command == "check"  ? std::vector<std::string>{"--all", "--tolerance_s"}
                                         : command == "show" ? std::vector<std::string>{"--window", "--output"}
                                                             : std::vector<std::string>{};
  for (const std::string& option : arguments.typed) {
    if (std::ranges::find(known, option) != known.end()) continue;
    fail(ErrorKind::kUsage, "{}: not an option of {}. See {}", option, command, kSeeHelp);
  }
  const std::size_t words = command == "show" ? 3 : 2;
  if (arguments.words.size() != words) {
    fail(ErrorKind::kUsage, "{}: {} words after it, needed {}. See {}", command, arguments.words.size() - 1,
         command == "show" ? "a dataset and a frame" : "a dataset", kSeeHelp);
  }
  if (arguments.show.first > 0 || arguments.show.last < 0 || arguments.show.last - arguments.show.first > 1000) {
    fail(ErrorKind::kUsage, "--window={}:{}: needed A:B with 0 in it, and at most 1001 frames. See {}",
         arguments.show.first, arguments.show.last, kSeeHelp);
  }
}

int run(const std::vector<std::string>& all) {
  Arguments arguments = parse(all);
  if (arguments.help) {
    std::cout << kHelp;
    return 0;
  }
  if (arguments.words.empty()) {
    fail(ErrorKind::kUsage, "a command is needed: {}. See {}", join(kCommands, ", "), kSeeHelp);
  }
  const std::string& command = arguments.words[0];
  if (std::ranges::find(kCommands, command) == kCommands.end()) {
    const auto near = nearest_name(command, kCommands);
    fail(ErrorKind::kUsage, "{}: unknown command{}. Commands: {}", command, near ? ", did you mean " + *near + "?" : "",
         join(kCommands, ", "));
  }
  check_options(command, arguments);
  if (command == "show") {
    const std::string& frame = arguments.words[2];
    constexpr std::string_view kNeeded = "a frame's number, or EPISODE:FRAME";
    if (frame.find(':') == std::string::npos) {
      arguments.show.frame = number<std::int64_t>("FRAME", frame, kNeeded);
    } else {
      const auto [episode, number_in_it] = pair("FRAME", frame, kNeeded);
      arguments.show.episode = episode;
      arguments.show.frame = number_in_it;
    }
  }
  const Part part = command == "info" ? Part::kMeta : Part::kAll;
  const DataCommand what{.root = find_dataset(arguments.words[1], part), .json = arguments.json};
  if (command == "info") return show_info(what);
  if (command == "show") return show_item(what, arguments.show);
  log::init(log::Level::kError);  // What the readers warn of is among the findings.
  return check_dataset(what, arguments.everything, arguments.tolerance_s);
}

int guarded(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const Error& error) {
    log::flush();
    std::cerr << "error: " << error.what() << '\n';
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    log::flush();
    std::cerr << "error: " << error.what() << '\n';
    return exit_code(ErrorKind::kInternal);
  }
}

}  // namespace
}  // namespace lerobot

int main(int argc, char** argv) {
  const int code = lerobot::guarded({argv + 1, argv + argc});
  lerobot::log::flush();
  return code;
}
