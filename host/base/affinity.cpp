#include "host/base/affinity.h"

#ifdef __linux__
#include <sched.h>

#include <optional>

namespace lerobot {
namespace {

/// Written before there are threads. Machines with more cores than a cpu_set_t has (1024) keep what they inherit.
std::optional<cpu_set_t> g_cores;

}  // namespace

void remember_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) g_cores = cores;
}

void run_on_remembered_cores() {
  // A failure (the machine took the cores away since) leaves the thread where it is: slower, and not wrong.
  if (g_cores) sched_setaffinity(0, sizeof(*g_cores), &*g_cores);
}

}  // namespace lerobot

#else

namespace lerobot {

void remember_cores() {}
void run_on_remembered_cores() {}

}  // namespace lerobot

#endif
