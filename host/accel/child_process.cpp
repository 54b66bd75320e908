#include "host/accel/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "host/base/error.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every system declares it

namespace lerobot::accel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxText = 1 << 20;

/// The reading end of a pipe from a child.
class Pipe {
 public:
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      fail(ErrorKind::kInternal, "no pipe for a child process: {}", std::strerror(errno));
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

  /// Takes what is there; the pipe is closed at its end and when there is more than any child has to say.
  void drain() {
    char buffer[4096];
    while (read_ >= 0) {
      const ssize_t count = ::read(read_, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0 || text.size() > kMaxText) {
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
  SpawnSetup(int out, int err) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
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
    std::string name = std::filesystem::path(program).filename().string();
    char* arguments[] = {name.data(), argument.data(), nullptr};
    return ::posix_spawn(pid, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// A running child. Its destructor leaves no process behind.
class Child {
 public:
  Child(const std::filesystem::path& program, const std::string& argument) : started_(Clock::now()) {
    SpawnSetup setup(out_.write_end(), err_.write_end());
    const int error = setup.spawn(&pid_, program.string(), argument);
    out_.close_write_end();
    err_.close_write_end();
    if (error == 0) return;
    outcome_.problem = format("{} does not start: {}", program.string(), std::strerror(error));
    finish();
  }
  ~Child() {
    if (!finished_) end_process();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool finished() const { return finished_; }
  Clock::time_point started() const { return started_; }

  /// Reads what has come, and concludes when the child has ended.
  void step() {
    drain();
    siginfo_t info{};
    const int waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 && info.si_pid == 0) return;
    drain();
    if (waited == 0 && info.si_code == CLD_EXITED) outcome_.exit_code = info.si_status;
    if (waited == 0 && info.si_code != CLD_EXITED) outcome_.signal = info.si_status;
    finish();
  }

  void time_out() {
    outcome_.timed_out = true;
    finish();
  }

  void add_descriptors(std::vector<pollfd>& descriptors) const {
    for (const Pipe* pipe : {&out_, &err_}) {
      if (pipe->read_end() >= 0) descriptors.push_back({pipe->read_end(), POLLIN, 0});
    }
  }

  ChildOutcome outcome() { return std::move(outcome_); }

 private:
  void drain() {
    out_.drain();
    err_.drain();
  }

  void finish() {
    end_process();
    finished_ = true;
    outcome_.pid = pid_;
    outcome_.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - started_).count();
    outcome_.out = std::move(out_.text);
    outcome_.err = std::move(err_.text);
  }

  /// Kills the whole group while the child's id is still ours (not yet waited for), then takes its status.
  void end_process() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  Clock::time_point started_;
  Pipe out_;
  Pipe err_;
  pid_t pid_ = 0;
  bool finished_ = false;
  ChildOutcome outcome_;
};

using Children = std::vector<std::unique_ptr<Child>>;

/// Sleeps until something comes from a child; not longer than a short while, since a child may end after its pipes.
void wait_for_any(const Children& children) {
  std::vector<pollfd> descriptors;
  for (const auto& child : children) {
    if (!child->finished()) child->add_descriptors(descriptors);
  }
  constexpr int kMilliseconds = 2;
  ::poll(descriptors.data(), descriptors.size(), kMilliseconds);
}

}  // namespace

void answer_parent(const std::function<std::string()>& answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const std::string line = answer() + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(out, line.data() + written, line.size() - written);
    if (count <= 0) ::_exit(1);
    written += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

std::string signal_text(int signal) {
  const char* name = ::strsignal(signal);
  return format("signal {} ({})", signal, name ? name : "unknown");
}

std::vector<ChildOutcome> run_children(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                       std::chrono::milliseconds limit, std::size_t at_once,
                                       const std::function<void(const ChildOutcome&)>& told) {
  Children children;
  std::vector<ChildOutcome> outcomes;
  const auto running = [](const auto& child) { return !child->finished(); };
  while (children.size() < arguments.size() || std::ranges::any_of(children, running)) {
    while (children.size() < arguments.size() &&
           static_cast<std::size_t>(std::ranges::count_if(children, running)) < std::max<std::size_t>(at_once, 1)) {
      children.push_back(std::make_unique<Child>(program, arguments[children.size()]));
    }
    wait_for_any(children);
    for (const auto& child : children) {
      if (!child->finished()) child->step();
      if (!child->finished() && Clock::now() - child->started() >= limit) child->time_out();
    }
    while (outcomes.size() < children.size() && children[outcomes.size()]->finished()) {
      outcomes.push_back(children[outcomes.size()]->outcome());
      if (told) told(outcomes.back());
    }
  }
  return outcomes;
}

}  // namespace lerobot::accel
