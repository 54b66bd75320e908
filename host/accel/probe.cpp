#include "host/accel/probe.h"

#include <algorithm>

#include "host/accel/abi.h"
#include "host/accel/child_process.h"
#include "host/accel/probe_message.h"
#include "host/accel/search.h"
#include "host/base/error.h"

namespace lerobot::accel {
namespace {

constexpr std::size_t kMaxOutput = 4096;

ProbeResult failed(std::string reason, std::string cure = "") {
  ProbeResult result;
  result.reason_code = "failed";
  result.reason = std::move(reason);
  result.cure = std::move(cure);
  return result;
}

/// What a child that has ended says.
ProbeResult conclude(const ChildOutcome& child, std::chrono::milliseconds limit) {
  if (!child.problem.empty()) return failed(child.problem);
  if (child.timed_out) {
    return failed(format("its probe gave no answer within {:.1f} s", static_cast<double>(limit.count()) / 1000),
                  "The driver hangs: see whether its own tools answer, or leave the plugin out with "
                  "LEROBOT_ACCEL_DISABLE");
  }
  if (child.signal != 0) {
    return failed(format("its probe crashed: {}", signal_text(child.signal)),
                  "The driver or the plugin is damaged: reinstall it");
  }
  if (child.exit_code != 0) {
    return failed(format("its probe ended with exit code {} before it answered", child.exit_code));
  }
  const std::size_t end = child.out.find('\n');
  if (end == std::string::npos) return failed("its probe ended without an answer");
  if (end + 1 != child.out.size()) return failed("its probe wrote more than its answer");
  try {
    return read_result(child.out.substr(0, end));
  } catch (const Error& error) {
    return failed(error.what());
  }
}

}  // namespace

std::filesystem::path probe_helper() {
  return library_directory() / "lerobot/lerobot-accel-probe";
}

std::vector<ProbeResult> run_probes(const std::vector<ProbeRequest>& requests, std::chrono::milliseconds limit,
                                    const std::filesystem::path& helper) {
  std::vector<std::string> arguments;
  for (const ProbeRequest& request : requests) arguments.push_back(write_request(request));
  std::vector<ProbeResult> results;
  for (const ChildOutcome& child : run_children(helper, arguments, limit, arguments.size())) {
    results.push_back(conclude(child, limit));
    ProbeResult& result = results.back();
    result.pid = child.pid;
    result.milliseconds = child.milliseconds;
    result.output = printable(child.err.substr(child.err.size() - std::min(child.err.size(), kMaxOutput)));
  }
  return results;
}

}  // namespace lerobot::accel
