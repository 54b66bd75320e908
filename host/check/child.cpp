// The side of the child: one check, one answer, no destructors.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

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
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a plugin that hangs must not outlive the program that asked
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // What a plugin prints goes to stderr, so that it cannot mix with the answer.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const std::string line = write_verdict(answer(request)) + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(out, line.data() + written, line.size() - written);
    if (count <= 0) ::_exit(1);
    written += static_cast<std::size_t>(count);
  }
  ::_exit(0);  // no destructors: threads of the plugin may still run
}

}  // namespace lerobot::check
