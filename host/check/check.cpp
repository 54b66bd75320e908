#include "host/check/check.h"

#include <algorithm>

#include "host/accel/abi.h"
#include "host/base/text.h"

namespace lerobot::check {
namespace {

constexpr std::size_t kMaxFindings = 4;

std::string summary(const std::vector<std::string>& findings) {
  std::vector<std::string> shown = findings;
  shown.resize(std::min(findings.size(), kMaxFindings));
  if (findings.size() > shown.size()) shown.push_back(format("and {} more", findings.size() - shown.size()));
  return join(shown, "; ");
}

/// Torch's messages go on with a backtrace.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::vector<Check> collect() {
  std::vector<Check> all;
  const auto add = [&](const std::vector<Check>& group) { all.insert(all.end(), group.begin(), group.end()); };
  for (const auto group :
       {static_checks, entry_checks, handshake_checks, table_checks, lifecycle_checks, process_checks, device_checks,
        thread_checks, autocast_checks, unscale_checks, scale_update_checks, numerics_checks}) {
    add(group());
  }
  for (Check& check : all) {
    const std::string_view name = check.name;
    for (const Level level : {Level::kStatic, Level::kAbi, Level::kBehaviour, Level::kNumerics}) {
      if (name.starts_with(level_name(level) + ".")) check.level = level;
    }
  }
  std::ranges::stable_sort(all, {}, &Check::level);
  return all;
}

}  // namespace

std::string level_name(Level level) {
  switch (level) {
    case Level::kStatic:
      return "static";
    case Level::kAbi:
      return "abi";
    case Level::kBehaviour:
      return "behaviour";
    case Level::kNumerics:
      return "numerics";
  }
  return "";
}

std::string verdict_name(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kPass:
      return "pass";
    case Verdict::Kind::kFail:
      return "FAIL";
    case Verdict::Kind::kSkipped:
      return "skipped";
  }
  return "";
}

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = collect();
  return checks;
}

Verdict run_check(const Check& check, const Subject& subject) {
  // The first check says what is wrong with the manifest; the others have nothing to go by.
  if (!subject.package.manifest && std::string_view(check.name) != "static.manifest") {
    return {Verdict::Kind::kSkipped, "the manifest cannot be read"};
  }
  if (subject.package.manifest && subject.manifest().kind == accel::Manifest::Kind::kTorch && !check.of_any_package) {
    return {Verdict::Kind::kSkipped, "a package of kind torch holds no plugin"};
  }
  Run run(subject);
  std::vector<std::string> findings;
  try {
    check.run(run);
    findings = run.findings();
  } catch (const Skipped& skipped) {
    findings = run.findings();
    if (findings.empty()) return {Verdict::Kind::kSkipped, accel::printable(skipped.what())};
  } catch (const std::exception& failure) {  // Failed, or what torch has to say
    findings = run.findings();
    findings.push_back(first_line(failure.what()));
  }
  if (findings.empty()) return {Verdict::Kind::kPass, ""};
  return {Verdict::Kind::kFail, accel::printable(summary(findings))};
}

}  // namespace lerobot::check
