#include "host/check/report.h"

#include <boost/json/array.hpp>
#include <ostream>

#include "host/accel/abi.h"

namespace lerobot::check {
namespace bj = boost::json;
namespace {

constexpr int kSchema = 1;

std::string torch_line(const Subject& subject) {
  if (subject.torch.directory.empty()) return subject.own_torch.problem.empty() ? "none" : subject.own_torch.problem;
  const std::string where = subject.torch.version + " in " + subject.torch.directory.string();
  return subject.stand_in ? where + ", in place of its own: " + subject.own_torch.problem : where;
}

}  // namespace

void print_heading(std::ostream& out, const Report& report) {
  const Subject& subject = report.subject;
  out << "package  " << subject.package.directory.string() << '\n';
  if (subject.package.manifest) {
    out << "plugin   " << subject.manifest().id << ' ' << subject.manifest().version << '\n'
        << "torch    " << torch_line(subject) << '\n'
        << "device   "
        << (subject.unavailable.empty() ? format("{} found by the probe", subject.probed_devices)
                                        : "none: " + subject.unavailable)
        << '\n';
  }
}

void print_result(std::ostream& out, const Result& result) {
  out << format("{:<7}  {:<28}  ", verdict_name(result.verdict.kind), result.check->name)
      << (result.verdict.detail.empty() ? result.check->purpose : result.verdict.detail) << std::endl;
}

void print_summary(std::ostream& out, const Report& report) {
  out << format("{} passed, {} failed, {} skipped\n", report.count(Verdict::Kind::kPass),
                report.count(Verdict::Kind::kFail), report.count(Verdict::Kind::kSkipped));
}

bj::object report_json(const Report& report) {
  const Subject& subject = report.subject;
  bj::object package{{"directory", subject.package.directory.string()}, {"id", subject.package.id}};
  if (subject.package.manifest) package["version"] = subject.manifest().version;
  bj::object torch{{"version", subject.torch.version},
                   {"directory", subject.torch.directory.string()},
                   {"stand_in", subject.stand_in},
                   {"problem", subject.own_torch.problem}};
  bj::array checks;
  for (const Result& result : report.results) {
    std::string verdict = verdict_name(result.verdict.kind);
    if (result.verdict.kind == Verdict::Kind::kFail) verdict = "fail";
    checks.push_back(bj::object{{"name", result.check->name},
                                {"level", static_cast<std::uint32_t>(result.check->level)},
                                {"purpose", result.check->purpose},
                                {"result", verdict},
                                {"detail", result.verdict.detail},
                                {"milliseconds", result.milliseconds}});
  }
  return {{"schema", kSchema},
          {"abi", LRA_VERSION_STRING},
          {"package", package},
          {"torch", torch},
          {"device",
           {{"usable", subject.unavailable.empty()},
            {"count", subject.probed_devices},
            {"reason", subject.unavailable},
            {"cure", report.probe.cure}}},
          {"checks", checks},
          {"passed", report.count(Verdict::Kind::kPass)},
          {"failed", report.count(Verdict::Kind::kFail)},
          {"skipped", report.count(Verdict::Kind::kSkipped)}};
}

void print_checks(std::ostream& out, const std::vector<const Check*>& checks) {
  for (const Check* check : checks) {
    out << format("{}  {:<28}  {}\n", static_cast<std::uint32_t>(check->level), check->name, check->purpose);
  }
}

}  // namespace lerobot::check
