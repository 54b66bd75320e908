// The side of the child: one check, one answer, no destructors.

#include <algorithm>

#include "host/accel/child_process.h"
#include "host/base/error.h"
#include "host/check/message.h"
#include "host/check/runner.h"

namespace lerobot::check {
namespace {

Verdict answer(const std::string& line) {
  try {
    const Request request = read_request(line);
    const auto& checks = all_checks();
    const auto check = std::ranges::find(checks, request.check, [](const Check& c) { return std::string(c.name); });
    if (check == checks.end()) fail(ErrorKind::kInternal, "{}: no such check", request.check);
    Subject subject = find_subject(request.directory, request.torch_directory);
    subject.unavailable = request.unavailable;
    subject.probed_devices = request.devices;
    return run_check(*check, subject);
  } catch (const std::exception& error) {
    return {Verdict::Kind::kFail, error.what()};
  }
}

}  // namespace

void run_check_child(const std::string& request) {
  accel::answer_parent([&] { return write_verdict(answer(request)); });
}

}  // namespace lerobot::check
