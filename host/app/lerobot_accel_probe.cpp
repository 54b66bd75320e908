#include <cstdio>

#include "host/accel/probe.h"

/// Asks one plugin's probe library, in a process that nobody minds losing. Started by the host library only.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("error: lerobot-accel-probe is run by lerobot-train and lerobot-accel; try lerobot-accel list\n",
               stderr);
    return 2;
  }
  lerobot::accel::run_probe_child(argv[1]);
}
