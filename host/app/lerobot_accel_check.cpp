#include <cstdio>

#include "host/check/runner.h"

/// Runs one check on one plugin, in a process that nobody minds losing. Started by lerobot-accel check only.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("error: lerobot-accel-check is run by lerobot-accel; try lerobot-accel check --help\n", stderr);
    return 2;
  }
  lerobot::check::run_check_child(argv[1]);
}
