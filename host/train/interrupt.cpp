#include "host/train/interrupt.h"

#include <csignal>

namespace lerobot::train {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int number) {
  received = number;
  std::signal(number, SIG_DFL);  // a second one ends the process
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptGuard::signal() {
  return received;
}

}  // namespace lerobot::train
