// From init to shutdown, and what comes before, between and after.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "host/accel/abi.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

/// A context that the plugin never gave: readable, and nothing in it.
lra_context* strange_context() {
  static std::uint64_t nothing[64] = {};
  return reinterpret_cast<lra_context*>(nothing);
}

/// Calls each function that needs only a context; every one must be refused. `look` gets name and status.
template <class Look>
void each_function(Run& run, lra_context* context, const Look& look) {
  const lra_api& api = run.api();
  std::uint32_t count = 0;
  look("device_count", api.device_count(context, &count, run.error()));
  auto info = sized<lra_device_info>();
  look("device_info", api.device_info(context, 0, &info, run.error()));
  look("activate_device", api.activate_device(context, 0, run.error()));
  const auto synchronize = sized<lra_synchronize_args>();
  look("synchronize", api.synchronize(context, &synchronize, run.error()));
  look("selftest", api.selftest(context, 0, run.error()));
  if (api.autocast_query) {
    auto support = sized<lra_autocast_support>();
    look("autocast_query", api.autocast_query(context, 0, LRA_PRECISION_FLOAT32, &support, run.error()));
  }
  if (api.autocast_enter) {
    const auto args = sized<lra_autocast_args>();
    std::uint64_t token = 0;
    look("autocast_enter", api.autocast_enter(context, &args, &token, run.error()));
  }
  if (api.autocast_exit) look("autocast_exit", api.autocast_exit(context, 1, run.error()));
  if (api.tf32_get) {
    auto state = sized<lra_tf32>();
    look("tf32_get", api.tf32_get(context, &state, run.error()));
  }
  if (api.tf32_set) {
    const auto settings = sized<lra_tf32>();
    look("tf32_set", api.tf32_set(context, &settings, run.error()));
  }
  if (api.memory_stats) {
    auto stats = sized<lra_memory_stats>();
    look("memory_stats", api.memory_stats(context, 0, &stats, run.error()));
  }
  if (api.seed) look("seed", api.seed(context, 0, 1, run.error()));
  if (api.get_extension) {
    const void* table = nullptr;
    look("get_extension", api.get_extension(context, "a", 1, &table, run.error()));
  }
  look("shutdown", api.shutdown(context, run.error()));
}

void require_whole_table(Run& run) {
  const lra_api& api = run.api();
  run.require(api.init && api.shutdown && api.device_count && api.device_info && api.activate_device &&
                  api.synchronize && api.selftest,
              "its table lacks a required function");
}

/// Without a context nothing works, and nothing breaks. Needs no device.
void before_init(Run& run) {
  require_whole_table(run);
  each_function(run, strange_context(), [&](const char* name, lra_status status) {
    run.refused(status, LRA_WRONG_STATE, format("{} before init", name));
  });
  each_function(run, nullptr, [&](const char* name, lra_status status) {
    run.expect(status == LRA_WRONG_STATE || status == LRA_INVALID_ARGUMENT,
               "{} before init, context null: {}, needed LRA_WRONG_STATE", name, status_name(status));
  });
}

void wrong_context(Run& run) {
  run.start();
  each_function(run, strange_context(), [&](const char* name, lra_status status) {
    run.refused(status, LRA_INVALID_ARGUMENT, format("{} with a context that init did not give", name));
  });
  run.expect(run.device_count() > 0, "the context is gone after calls with another one");
}

void after_shutdown(Run& run) {
  run.start();
  lra_context* stale = run.context();
  run.stop();
  each_function(run, stale, [&](const char* name, lra_status status) {
    run.refused(status, LRA_WRONG_STATE, format("{} after shutdown", name));
  });
}

void one_context(Run& run) {
  run.start();
  const auto args = sized<lra_init_args>();
  lra_context* second = nullptr;
  run.refused(run.api().init(&args, &second, run.error()), LRA_WRONG_STATE, "a second init");
  run.expect(second == nullptr, "a second init: refused, and context was written to");
  run.expect(run.device_count() > 0, "the context is gone after a second init");
}

void restart(Run& run) {
  run.start();
  const std::uint32_t devices = run.device_count();
  for (int i = 0; i < 100; ++i) {
    run.stop();
    run.start();
    run.require(run.device_count() == devices, "start {}: {} devices, before {}", i + 2, run.device_count(), devices);
  }
  run.stop();
}

/// The plugin of hardware that is not here: init says so, or knows no device. Runs only where there is none.
void no_device(Run& run) {
  if (run.subject().unavailable.empty()) throw Skipped("a device is here");
  require_whole_table(run);
  const auto args = sized<lra_init_args>();
  for (int i = 0; i < 2; ++i) {
    lra_context* context = nullptr;
    const lra_status status = run.api().init(&args, &context, run.error());
    if (status == LRA_UNAVAILABLE) {
      run.expect(context == nullptr, "init: LRA_UNAVAILABLE, and context was written to");
      run.expect(run.error()->message[0] != 0, "init: LRA_UNAVAILABLE without a message");
      continue;
    }
    run.require_ok(status, "the probe finds no device, init (LRA_UNAVAILABLE needed, or LRA_OK with 0 devices)");
    std::uint32_t count = 0;
    run.ok(run.api().device_count(context, &count, run.error()), "device_count");
    // With a torch that is not its own, a device may be there after all.
    run.expect(count == 0 || run.subject().stand_in, "the probe finds no device, the started plugin has {}", count);
    run.ok(run.api().shutdown(context, run.error()), "shutdown");
  }
}

/// What the plugin logs, and when.
struct LogBook {
  std::atomic<bool> open{false};
  std::atomic<int> late{0};
  std::atomic<int> bad{0};
};

void note_line(void* context, std::uint32_t level, const char* message, std::uint64_t size) {
  auto* book = static_cast<LogBook*>(context);
  if (!book->open) ++book->late;
  const bool good = level <= LRA_LOG_ERROR && message != nullptr && size > 0 && size < 65536 &&
                    std::memchr(message, '\n', size) == nullptr && std::memchr(message, 0, size) == nullptr;
  if (!good) ++book->bad;
}

void log_lines(Run& run) {
  run.start();
  run.stop();
  static LogBook book;  // outlives the plugin's threads
  auto args = sized<lra_init_args>();
  args.log = note_line;
  args.log_context = &book;
  lra_context* context = nullptr;
  book.open = true;
  run.require_ok(run.api().init(&args, &context, run.error()), "init");
  run.set_context(context);
  run.ok(run.api().activate_device(context, 0, run.error()), "activate_device");
  run.ok(run.api().selftest(context, 0, run.error()), "selftest");
  run.stop();
  book.open = false;
  each_function(run, context, [](const char*, lra_status) {});
  lra_context* silent = nullptr;
  const auto without_log = sized<lra_init_args>();
  run.require_ok(run.api().init(&without_log, &silent, run.error()), "init without a log");
  run.set_context(silent);
  run.ok(run.api().selftest(silent, 0, run.error()), "selftest");
  run.stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  run.expect(book.late == 0, "log was called {} times after shutdown", book.late.load());
  run.expect(book.bad == 0, "log was called {} times with an unknown level, or with no text of one line",
             book.bad.load());
}

}  // namespace

std::vector<Check> lifecycle_checks() {
  return {
      {"behaviour.before-init", "before init every function is LRA_WRONG_STATE", before_init},
      {"behaviour.wrong-context", "a context that init did not give is LRA_INVALID_ARGUMENT", wrong_context},
      {"behaviour.after-shutdown", "after shutdown every function is LRA_WRONG_STATE", after_shutdown},
      {"behaviour.one-context", "a second init is LRA_WRONG_STATE and changes nothing", one_context},
      {"behaviour.restart", "init and shutdown a hundred times", restart},
      {"behaviour.no-device", "without a device init is LRA_UNAVAILABLE, or LRA_OK with none", no_device},
      {"behaviour.log", "the log is used between init and shutdown only, one line at a time", log_lines},
  };
}

}  // namespace lerobot::check
