#include "host/train/interrupt.h"

#include <csignal>

#include "host/base/exit_status.h"

namespace lerobot::train {
namespace {

volatile std::sig_atomic_t received = 0;
int guards = 0;

void on_signal(int number) {
  received = number;
  std::signal(number, SIG_DFL);  // a second one ends the process
}

}  // namespace

InterruptGuard::InterruptGuard(std::initializer_list<int> signals) {
  if (guards++ == 0) received = 0;
  for (const int signal : signals) {
    if (signal != received) handlers_.push_back({signal, std::signal(signal, on_signal)});
  }
}

InterruptGuard::~InterruptGuard() {
  for (const Handler& handler : handlers_) {
    if (handler.signal != received) std::signal(handler.signal, handler.before);
  }
  --guards;
}

int InterruptGuard::signal() {
  return received;
}

const char* InterruptGuard::name(int signal) {
  return signal == SIGINT ? "Ctrl-C" : "SIGTERM";
}

int InterruptGuard::exit_code(int signal) {
  return signal == SIGTERM ? kExitRestart : 128 + signal;
}

}  // namespace lerobot::train
