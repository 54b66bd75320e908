#include "host/check/runner.h"

#include <algorithm>

#include "host/accel/abi.h"
#include "host/accel/child_process.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/check/message.h"

namespace lerobot::check {
namespace {

Verdict conclude(const accel::ChildOutcome& child, std::chrono::milliseconds limit) {
  const auto failed = [](std::string detail) { return Verdict{Verdict::Kind::kFail, std::move(detail)}; };
  if (!child.problem.empty()) return failed(child.problem);
  if (child.timed_out) {
    return failed(format("hangs: not done within {:.1f} s", static_cast<double>(limit.count()) / 1000));
  }
  if (child.signal != 0) return failed("crashes: " + accel::signal_text(child.signal));
  if (child.exit_code != 0) return failed(format("ends the process with exit code {}", child.exit_code));
  const std::size_t end = child.out.find('\n');
  if (end == std::string::npos) return failed("ends the process");
  try {
    return read_verdict(child.out.substr(0, end));
  } catch (const Error& error) {
    return failed(error.what());
  }
}

}  // namespace

std::size_t Report::count(Verdict::Kind kind) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(results, [&](const Result& result) { return result.verdict.kind == kind; }));
}

std::vector<const Check*> chosen_checks(const Options& options) {
  std::vector<const Check*> chosen;
  for (const Check& check : all_checks()) {
    if (check.level <= options.level && glob_match(options.only, check.name)) chosen.push_back(&check);
  }
  if (chosen.empty()) {
    fail(ErrorKind::kUsage, "--only={}: matches no check up to level {}. See lerobot-accel check --list", options.only,
         static_cast<std::uint32_t>(options.level));
  }
  return chosen;
}

Report run_checks(const Options& options) {
  const std::vector<const Check*> chosen = chosen_checks(options);
  Report report;
  report.subject = find_subject(options.directory, options.torch_directory);
  report.probe = probe_subject(report.subject, options.limit);
  std::vector<std::string> requests;
  requests.reserve(chosen.size());
  for (const Check* check : chosen) {
    requests.push_back(write_request({report.subject.package.directory.string(), options.torch_directory, check->name,
                                      report.subject.unavailable, report.subject.probed_devices}));
  }
  if (options.on_start) options.on_start(report);
  accel::run_children(check_helper(), requests, options.limit, options.at_once, [&](const accel::ChildOutcome& child) {
    const Check* check = chosen[report.results.size()];
    report.results.push_back({check, conclude(child, options.limit), child.milliseconds});
    if (options.on_result) options.on_result(report.results.back());
  });
  return report;
}

std::filesystem::path check_helper() {
  return accel::library_directory() / "lerobot/lerobot-accel-check";
}

}  // namespace lerobot::check
