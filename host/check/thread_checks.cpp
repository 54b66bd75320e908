// Functions marked [any] and [self], from several threads at the same time.
#include <atomic>
#include <mutex>
#include <thread>

#include "host/accel/abi.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 200;

/// Runs `work` on each thread; it returns the name of the call that failed, or nothing.
template <class Work>
void on_threads(Run& run, const Work& work) {
  std::mutex mutex;
  std::string problem;
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();  // all at once
      const std::string found = work();
      const std::lock_guard lock(mutex);
      if (!found.empty() && problem.empty()) problem = found;
    });
  }
  for (std::thread& thread : threads) thread.join();
  run.expect(problem.empty(), "from {} threads at once: {}", kThreads, problem);
}

std::string unless_ok(const char* name, lra_status status, const lra_error& error) {
  return status == LRA_OK ? "" : format("{}: {} ({})", name, status_name(status), accel::bounded_text(error.message));
}

void any_thread(Run& run) {
  run.start();
  const lra_api& api = run.api();
  lra_context* context = run.context();
  const lra_device_info expected = run.device();
  const std::uint32_t devices = run.device_count();
  const bool stats = api.memory_stats != nullptr;
  on_threads(run, [&]() -> std::string {
    auto error = sized<lra_error>();
    std::string problem = unless_ok("activate_device", api.activate_device(context, 0, &error), error);
    for (int i = 0; i < kRounds && problem.empty(); ++i) {
      std::uint32_t count = 0;
      problem = unless_ok("device_count", api.device_count(context, &count, &error), error);
      if (problem.empty() && count != devices) problem = format("device_count: {} and {}", devices, count);
      auto info = sized<lra_device_info>();
      if (problem.empty()) problem = unless_ok("device_info", api.device_info(context, 0, &info, &error), error);
      if (problem.empty() && std::string_view(info.name) != expected.name) problem = "device_info: another name";
      const auto args = sized<lra_synchronize_args>();
      if (problem.empty()) problem = unless_ok("synchronize", api.synchronize(context, &args, &error), error);
      if (problem.empty() && api.autocast_query) {
        auto support = sized<lra_autocast_support>();
        problem =
            unless_ok("autocast_query", api.autocast_query(context, 0, LRA_PRECISION_BF16, &support, &error), error);
      }
      auto memory = sized<lra_memory_stats>();
      const lra_status status = stats ? api.memory_stats(context, 0, &memory, &error) : LRA_OK;
      if (problem.empty() && status != LRA_UNSUPPORTED) problem = unless_ok("memory_stats", status, error);
      // A refusal belongs to its caller: the error is that of this call and no other.
      error = sized<lra_error>();
      if (api.device_info(context, devices, &info, &error) == LRA_OK || error.code != LRA_INVALID_ARGUMENT) {
        if (problem.empty()) problem = "a refused device_info: its error is not its own";
      }
      error = sized<lra_error>();
    }
    return problem.empty() ? unless_ok("selftest", api.selftest(context, 0, &error), error) : problem;
  });
}

/// Each thread opens and closes its own scopes, while the others do the same.
void own_thread(Run& run) {
  run.start();
  const lra_api& api = run.api();
  if (!api.autocast_enter || !api.autocast_exit) throw Skipped("the plugin has no autocast");
  lra_context* context = run.context();
  on_threads(run, [&]() -> std::string {
    auto error = sized<lra_error>();
    std::string problem = unless_ok("activate_device", api.activate_device(context, 0, &error), error);
    const auto args = sized<lra_autocast_args>();
    for (int i = 0; i < kRounds && problem.empty(); ++i) {
      std::uint64_t outer = 0;
      std::uint64_t inner = 0;
      problem = unless_ok("autocast_enter", api.autocast_enter(context, &args, &outer, &error), error);
      if (problem.empty())
        problem = unless_ok("autocast_enter", api.autocast_enter(context, &args, &inner, &error), error);
      if (problem.empty() && (outer == 0 || inner == 0 || outer == inner))
        problem = "autocast_enter: tokens 0 or equal";
      std::this_thread::yield();
      if (problem.empty()) problem = unless_ok("autocast_exit", api.autocast_exit(context, inner, &error), error);
      if (problem.empty()) problem = unless_ok("autocast_exit", api.autocast_exit(context, outer, &error), error);
    }
    return problem;
  });
}

}  // namespace

std::vector<Check> thread_checks() {
  return {
      {"behaviour.any-thread", "functions marked [any] work from several threads at once", any_thread},
      {"behaviour.own-thread", "each thread opens and closes its own autocast scopes", own_thread},
  };
}

}  // namespace lerobot::check
