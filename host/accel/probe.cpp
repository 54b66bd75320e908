#include "host/accel/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "host/accel/abi.h"
#include "host/accel/probe_message.h"
#include "host/accel/search.h"
#include "host/base/error.h"

extern char** environ;

namespace lerobot::accel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxAnswer = 1 << 20;
constexpr std::size_t kMaxOutput = 4096;

/// The reading end of a pipe from a child.
class Pipe {
 public:
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::kInternal, "no pipe for a probe: {}", std::strerror(errno));
    read_ = ends[0];
    write_ = ends[1];
    ::fcntl(read_, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close_end(read_);
    close_end(write_);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return read_; }
  int write_end() const { return write_; }
  void close_write_end() { close_end(write_); }

  /// Takes what is there; the pipe is closed at its end and when there is more than any answer has.
  void drain() {
    char buffer[4096];
    while (read_ >= 0) {
      const ssize_t count = ::read(read_, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0 || text.size() > kMaxAnswer) {
        close_end(read_);
        return;
      }
      text.append(buffer, static_cast<std::size_t>(count));
    }
  }

  std::string text;

 private:
  static void close_end(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }

  int read_ = -1;
  int write_ = -1;
};

/// The attributes of a child: a process group of its own (so that all of it can be killed) and default signals.
class SpawnSetup {
 public:
  SpawnSetup(int answer, int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, answer, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  int spawn(pid_t* pid, const std::string& program, std::string argument) {
    std::string name = "lerobot-accel-probe";
    char* arguments[] = {name.data(), argument.data(), nullptr};
    return ::posix_spawn(pid, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// A running probe. Its destructor leaves no process behind.
class Child {
 public:
  Child(const ProbeRequest& request, const std::filesystem::path& helper) : started_(Clock::now()) {
    SpawnSetup setup(answer_.write_end(), output_.write_end());
    const int error = setup.spawn(&pid_, helper.string(), write_request(request));
    answer_.close_write_end();
    output_.close_write_end();
    if (error != 0) finish(format("{} does not start: {}", helper.string(), std::strerror(error)));
  }
  ~Child() {
    if (!finished_) end_process();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool finished() const { return finished_; }

  /// Reads what has come, and concludes when the child has ended.
  void step() {
    answer_.drain();
    output_.drain();
    siginfo_t info{};
    const int waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 && info.si_pid == 0) return;
    answer_.drain();
    output_.drain();
    conclude(info, waited != 0);
  }

  void time_out(std::chrono::milliseconds limit) {
    finish(format("its probe gave no answer within {:.1f} s", static_cast<double>(limit.count()) / 1000),
           "The driver hangs: see whether its own tools answer, or leave the plugin out with LEROBOT_ACCEL_DISABLE");
  }

  void add_descriptors(std::vector<pollfd>& descriptors) const {
    for (const Pipe* pipe : {&answer_, &output_}) {
      if (pipe->read_end() >= 0) descriptors.push_back({pipe->read_end(), POLLIN, 0});
    }
  }

  ProbeResult result() { return std::move(result_); }

 private:
  void conclude(const siginfo_t& info, bool status_unknown) {
    const std::size_t end = answer_.text.find('\n');
    if (!status_unknown && info.si_code != CLD_EXITED) {
      const char* name = ::strsignal(info.si_status);
      return finish(format("its probe crashed: signal {} ({})", info.si_status, name ? name : "unknown"),
                    "The driver or the plugin is damaged: reinstall it");
    }
    if (!status_unknown && info.si_status != 0) {
      return finish(format("its probe ended with exit code {} before it answered", info.si_status));
    }
    if (end == std::string::npos) return finish("its probe ended without an answer");
    if (end + 1 != answer_.text.size()) return finish("its probe wrote more than its answer");
    try {
      result_ = read_result(answer_.text.substr(0, end));
    } catch (const Error& error) {
      return finish(error.what());
    }
    close();
  }

  void finish(std::string reason, std::string cure = "") {
    result_ = {};
    result_.reason_code = "failed";
    result_.reason = std::move(reason);
    result_.cure = std::move(cure);
    close();
  }

  void close() {
    end_process();
    finished_ = true;
    result_.pid = pid_;
    result_.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - started_).count();
    const std::string& all = output_.text;
    result_.output = printable(all.substr(all.size() - std::min(all.size(), kMaxOutput)));
  }

  /// Kills the whole group while the child's id is still ours (not yet waited for), then takes its status.
  void end_process() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  Clock::time_point started_;
  Pipe answer_;
  Pipe output_;
  pid_t pid_ = 0;
  bool finished_ = false;
  ProbeResult result_;
};

/// Sleeps until something comes from a child; not longer than a short while, since a child may end after its pipes.
void wait_for_any(const std::vector<std::unique_ptr<Child>>& children) {
  std::vector<pollfd> descriptors;
  for (const auto& child : children) {
    if (!child->finished()) child->add_descriptors(descriptors);
  }
  constexpr int kMilliseconds = 2;
  ::poll(descriptors.data(), descriptors.size(), kMilliseconds);
}

}  // namespace

std::filesystem::path probe_helper() {
  return library_directory() / "lerobot/lerobot-accel-probe";
}

std::vector<ProbeResult> run_probes(const std::vector<ProbeRequest>& requests, std::chrono::milliseconds limit,
                                    const std::filesystem::path& helper) {
  std::vector<std::unique_ptr<Child>> children;
  for (const ProbeRequest& request : requests) children.push_back(std::make_unique<Child>(request, helper));
  const auto deadline = Clock::now() + limit;
  const auto running = [](const auto& child) { return !child->finished(); };
  while (std::ranges::any_of(children, running)) {
    wait_for_any(children);
    for (const auto& child : children) {
      if (!child->finished()) child->step();
    }
    if (Clock::now() < deadline) continue;
    for (const auto& child : children) {
      if (!child->finished()) child->time_out(limit);
    }
  }
  std::vector<ProbeResult> results;
  for (const auto& child : children) results.push_back(child->result());
  return results;
}

}  // namespace lerobot::accel
