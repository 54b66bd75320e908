#include "host/app/accel_report.h"

#include <algorithm>

#include "host/accel/precision_rule.h"
#include "host/accel/visibility.h"
#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot {
namespace bj = boost::json;
namespace {

using accel::Candidate;
using accel::Package;
using accel::State;
using accel::Survey;

/// Of `explain --json` (docs/explain.md): raised when a key changes its meaning or goes away, not when one is added.
constexpr int kExplainSchema = 1;

/// The outcome of `auto`: a choice, or the error's text.
struct Automatic {
  std::optional<accel::Choice> choice;
  std::string error;
};

Automatic choose_automatically(const Survey& survey) {
  try {
    return {accel::choose(survey, {}), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

std::string memory_text(std::uint64_t bytes) {
  if (bytes == 0) return "";
  return format(", {:.1f} GiB", static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0));
}

std::string device_text(const accel::ProbedDevice& device) {
  std::string text = device.name + memory_text(device.memory_total);
  if (!device.architecture.empty()) text += ", " + device.architecture;
  if (!device.pci_address.empty()) text += ", " + device.pci_address;
  if (!device.counted_by.empty()) text += " (counted under " + device.counted_by + ")";
  return text;
}

std::string version_of(const Package& package) {
  return package.manifest ? package.manifest->version : "?";
}

std::string types_of(const Package& package) {
  return package.manifest ? join(package.manifest->device_types, ",") : "?";
}

/// What stands behind the state: the devices when usable, else why not and what to do.
std::vector<std::string> details(const Candidate& candidate, const accel::Variables& variables) {
  std::vector<std::string> lines;
  if (candidate.state != State::kUsable) {
    const std::string line = accel::describe(candidate, variables);
    const std::string prefix = format("{}: {}: ", candidate.package.id, accel::state_name(candidate.state));
    lines.push_back(line.starts_with(prefix) ? line.substr(prefix.size()) : line);
    return lines;
  }
  for (const accel::ProbedDevice& device : candidate.probe.devices) lines.push_back(device_text(device));
  if (candidate.probe.device_count > candidate.probe.devices.size()) {
    lines.push_back(format("and {} more", candidate.probe.device_count - candidate.probe.devices.size()));
  }
  if (!candidate.probe.reason.empty()) lines.push_back(candidate.probe.reason);
  return lines;
}

class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// Columns padded to their widest cell; the last one is free.
  void print(std::ostream& out) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        line += row[i];
        if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
      }
      out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string torch_text(const accel::TorchRuntime& torch) {
  return format("torch {} in {} ({})", torch.version, torch.directory.string(), torch.origin);
}

void add_verbose(Table& table, const Candidate& candidate) {
  table.add({"", "", "", "", "in " + candidate.package.directory.string() + " (" + candidate.package.origin + ")"});
  const auto& torch = candidate.checked.torch;
  if (!torch.origin.empty()) table.add({"", "", "", "", torch_text(torch)});
  const accel::ProbeResult& probe = candidate.probe;
  if (candidate.state == State::kUsable) {
    for (std::size_t i = 0; i < probe.devices.size(); ++i) {
      const std::string which = probe.devices.size() > 1 ? format(" of device {}", i) : "";
      table.add(
          {"", "", "", "", format("precision{}: {}", which, accel::precision_summary(probe.devices[i].capabilities))});
    }
  }
  if (probe.pid == 0) return;
  const std::string driver = probe.driver_version.empty() ? "" : ", driver " + probe.driver_version;
  table.add({"", "", "", "", format("probed in {:.0f} ms by process {}{}", probe.milliseconds, probe.pid, driver)});
  if (!probe.output.empty()) table.add({"", "", "", "", "its probe printed: " + probe.output});
}

bj::object verdict_json(accel::Precision precision, std::uint64_t capabilities) {
  const accel::PrecisionVerdict verdict = accel::judge_precision(precision, capabilities);
  const char* const names[] = {"native", "slower", "refused"};
  return {{"verdict", names[static_cast<int>(verdict.verdict)]}, {"reason", verdict.reason}};
}

/// What training gets from a device, by the rule that the trainer follows.
bj::object precision_json(std::uint64_t capabilities) {
  return {{"bf16", verdict_json(accel::Precision::kBFloat16, capabilities)},
          {"fp16", verdict_json(accel::Precision::kFloat16, capabilities)},
          {"tf32", (capabilities & LRA_CAP_TF32) != 0},
          {"summary", accel::precision_summary(capabilities)}};
}

bj::object device_json(const accel::ProbedDevice& device) {
  return {{"name", device.name},
          {"architecture", device.architecture},
          {"pci_address", device.pci_address},
          {"uuid", device.uuid},
          {"memory_total", device.memory_total},
          {"capabilities", device.capabilities},
          {"precision", precision_json(device.capabilities)},
          {"counted_by", device.counted_by}};
}

/// How far the plugin came on its way to training.
std::string_view stage(const Candidate& candidate) {
  switch (candidate.state) {
    case State::kUsable:
      return "ready";
    case State::kUnavailable:
      return "probe";
    case State::kUnfit:
      return candidate.probe.usable ? "torch" : candidate.package.manifest ? "files" : "manifest";
    case State::kExcluded:
      return "start";
    case State::kLeftOut:
    case State::kShadowed:
    case State::kNotAsked:
      return "found";
  }
  return "";
}

bj::object torch_json(const accel::TorchRuntime& torch) {
  return {{"version", torch.version},
          {"directory", torch.directory.string()},
          {"origin", torch.origin},
          {"problem", torch.problem}};
}

bj::object candidate_json(const Candidate& candidate, const accel::Variables& variables) {
  const Package& package = candidate.package;
  bj::array devices;
  for (const accel::ProbedDevice& device : candidate.probe.devices) devices.push_back(device_json(device));
  bj::array types;
  if (package.manifest) {
    for (const std::string& type : package.manifest->device_types) types.emplace_back(type);
  }
  return {{"id", package.id},
          {"version", version_of(package)},
          {"directory", package.directory.string()},
          {"origin", package.origin},
          {"state", accel::state_name(candidate.state)},
          {"stage", stage(candidate)},
          {"reason", candidate.reason},
          {"reason_code", candidate.probe.reason_code},
          {"cure", candidate.cure},
          {"visibility", package.manifest ? accel::visibility_variables(*package.manifest, variables) : ""},
          {"auto", candidate.automatic()},
          {"device_types", std::move(types)},
          {"devices", std::move(devices)},
          {"torch", torch_json(candidate.checked.torch)},
          {"device_count", candidate.probe.device_count},
          {"driver_version", candidate.probe.driver_version},
          {"probe_milliseconds", candidate.probe.milliseconds},
          {"probe_output", candidate.probe.output}};
}

}  // namespace

void print_list(std::ostream& out, const Survey& survey, bool verbose) {
  if (survey.candidates.empty()) {
    out << "No plugin is installed. lerobot-accel explain says where they are looked for.\n";
    return;
  }
  Table table;
  table.add({"PLUGIN", "VERSION", "DEVICE", "STATE", "DETAILS"});
  for (const Candidate& candidate : survey.candidates) {
    if (candidate.state == State::kShadowed && !verbose) continue;
    const std::vector<std::string> lines = details(candidate, survey.variables);
    table.add({candidate.package.id, version_of(candidate.package), types_of(candidate.package),
               std::string(accel::state_name(candidate.state)), lines.empty() ? "" : lines[0]});
    for (std::size_t i = 1; i < lines.size(); ++i) table.add({"", "", "", "", lines[i]});
    if (verbose) add_verbose(table, candidate);
  }
  table.print(out);
}

void print_explanation(std::ostream& out, const Survey& survey, const accel::SearchOptions& search) {
  out << "Plugins are looked for, in this order, in\n";
  for (const accel::SearchRoot& root : accel::search_roots(search)) {
    std::error_code ec;
    const bool there = std::filesystem::is_directory(root.directory, ec);
    out << "  " << root.directory.string() << " (" << root.origin << (there ? ")\n" : "; not there)\n");
  }
  out << "\nWithout --policy.device they are tried in this order\n";
  for (const Candidate& candidate : survey.candidates) {
    out << "  " << accel::describe(candidate, survey.variables);
    const bool never = candidate.package.manifest && !candidate.automatic();
    out << (never ? " (never chosen automatically)" : "") << " [came to: " << stage(candidate) << "]\n";
    if (candidate.state != State::kUsable) continue;
    for (const std::string& line : details(candidate, survey.variables)) out << "    " << line << '\n';
    if (!candidate.checked.torch.origin.empty()) out << "    " << torch_text(candidate.checked.torch) << '\n';
  }
  for (const Package& package : survey.torch_packages) {
    out << "\nTorch " << package.manifest->torch_version << " in " << package.directory.string() << '\n';
  }
  out << "\nHardware that this machine shows\n";
  const std::vector<std::string> hardware = accel::describe(survey.hardware);
  for (const std::string& line : hardware) out << "  " << line << '\n';
  if (hardware.empty()) out << "  no accelerator (containers, WSL2 and Jetson can hide it)\n";

  const Automatic automatic = choose_automatically(survey);
  out << "\nChoice: " << (automatic.choice ? automatic.choice->why : "none: " + automatic.error) << '\n';
  if (!automatic.choice) return;
  for (const std::string& warning : automatic.choice->warnings) out << "Warning: " << warning << '\n';
}

bj::value explanation_json(const Survey& survey, const accel::SearchOptions& search) {
  bj::array roots;
  for (const accel::SearchRoot& root : accel::search_roots(search)) {
    roots.push_back(bj::object{{"directory", root.directory.string()}, {"origin", root.origin}});
  }
  bj::array plugins;
  for (const Candidate& candidate : survey.candidates) plugins.push_back(candidate_json(candidate, survey.variables));
  bj::array torches;
  for (const Package& package : survey.torch_packages) {
    torches.push_back(bj::object{{"id", package.id},
                                 {"torch_version", package.manifest->torch_version},
                                 {"directory", package.directory.string()}});
  }
  bj::array hardware;
  for (const std::string& line : accel::describe(survey.hardware)) hardware.emplace_back(line);
  const Automatic automatic = choose_automatically(survey);
  bj::object choice{{"error", automatic.error}};
  if (automatic.choice) {
    bj::array warnings;
    for (const std::string& warning : automatic.choice->warnings) warnings.emplace_back(warning);
    choice = {{"plugin", automatic.choice->candidate->package.id},
              {"device", automatic.choice->device},
              {"why", automatic.choice->why},
              {"warnings", std::move(warnings)}};
  }
  return bj::object{{"schema", kExplainSchema},    {"search", std::move(roots)},      {"plugins", std::move(plugins)},
                    {"torch", std::move(torches)}, {"hardware", std::move(hardware)}, {"choice", std::move(choice)}};
}

}  // namespace lerobot
