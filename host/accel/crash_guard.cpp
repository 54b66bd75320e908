#include "host/accel/crash_guard.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>

#include "host/accel/child_process.h"
#include "host/accel/restart.h"
#include "host/base/error.h"
#include "host/base/format.h"

namespace lerobot::accel {
namespace {

/// What is done about one way to die, made ready beforehand: a handler can neither allocate nor format.
struct Fate {
  std::string line;
  std::unique_ptr<Restart> restart;  ///< none: the program ends
};

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

struct Fates {
  std::array<Fate, kSignals.size()> of_signal;
  Fate of_exit;
  std::array<struct sigaction, kSignals.size()> before;
  stack_t stack_before;
  std::unique_ptr<char[]> stack;  ///< for the handler: the crash may have been the end of the thread's own
};

std::atomic<Fates*> live{nullptr};

Fate make_fate(const std::string& id, bool replaceable, const std::string& what) {
  Fate fate;
  const std::string reason = format("its start {}", what);
  if (replaceable) fate.restart = std::make_unique<Restart>(id, reason);
  fate.line = replaceable ? format("WARNING Plugin {}: {}. Starting again without it.\n", id, reason)
                          : format("error: plugin {}: {}. Reinstall it, or choose another device\n", id, reason);
  return fate;
}

[[noreturn]] void meet(Fate& fate) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, fate.line.data(), fate.line.size());
  if (fate.restart) fate.restart->run();
  ::_exit(exit_code(ErrorKind::kDevice));
}

extern "C" void lerobot_on_crash(int number) {
  Fates* fates = live.exchange(nullptr);
  for (std::size_t i = 0; fates && i < kSignals.size(); ++i) {
    if (kSignals[i] == number) meet(fates->of_signal[i]);
  }
  // A second thread's crash while the first one is dealt with.
  for (;;) ::pause();
}

void on_exit_call() {
  if (Fates* fates = live.exchange(nullptr)) meet(fates->of_exit);
}

}  // namespace

CrashGuard::CrashGuard(const std::string& plugin_id, bool replaceable) {
  static const int registered = std::atexit(on_exit_call);
  static_cast<void>(registered);
  auto fates = std::make_unique<Fates>();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    fates->of_signal[i] = make_fate(plugin_id, replaceable, "crashed: " + signal_text(kSignals[i]));
  }
  fates->of_exit = make_fate(plugin_id, replaceable, "called exit()");

  constexpr std::size_t kStackBytes = 64 * 1024;
  fates->stack = std::make_unique<char[]>(kStackBytes);
  stack_t stack{};
  stack.ss_sp = fates->stack.get();
  stack.ss_size = kStackBytes;
  ::sigaltstack(&stack, &fates->stack_before);

  struct sigaction action {};
  action.sa_handler = lerobot_on_crash;
  action.sa_flags = SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  Fates* ready = fates.release();
  live = ready;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &ready->before[i]);
}

CrashGuard::~CrashGuard() {
  const std::unique_ptr<Fates> fates(live.exchange(nullptr));
  if (!fates) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &fates->before[i], nullptr);
  ::sigaltstack(&fates->stack_before, nullptr);
}

}  // namespace lerobot::accel
