// Faults in the functions that every plugin has.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fault.h"

namespace broken {
namespace {

lra_init_args last_init;  // of the last init, past shutdown too
lra_context* last_context = nullptr;
std::thread::id init_thread;
int inits = 0;

/// Notes what later faults need.
lra_status noting_init(const lra_init_args* args, lra_context** context, lra_error* error) {
  if (fault("starts-fifty-times") && ++inits > 50) return LRA_INTERNAL;
  if (fault("second-context") && context != nullptr && last_context != nullptr) {
    *context = last_context;
    return LRA_OK;
  }
  const lra_status status = good.init(args, context, error);
  if (status != LRA_OK) return status;
  last_init = *args;
  last_context = *context;
  init_thread = std::this_thread::get_id();
  if (fault("sets-variable")) setenv("OMP_NUM_THREADS", "1", 1);
  if (fault("takes-signal")) signal(SIGUSR1, SIG_IGN);
  return status;
}

lra_status forgiving_shutdown(lra_context* context, lra_error*) {
  const lra_status status = good.shutdown(context, nullptr);
  return status == LRA_WRONG_STATE ? LRA_OK : status;
}

lra_status faulty_count(lra_context* context, std::uint32_t* count, lra_error* error) {
  if (fault("count-takes-null") && count == nullptr) return LRA_OK;
  if (fault("one-thread-only") && std::this_thread::get_id() != init_thread) return LRA_WRONG_STATE;
  if (fault("any-context")) context = last_context;
  const lra_status status = good.device_count(context, count, error);
  const bool logs_late = fault("logs-late") && status == LRA_WRONG_STATE && last_init.log != nullptr;
  if (logs_late) last_init.log(last_init.log_context, LRA_LOG_INFO, "nobody home", 11);
  const bool before_init = last_context == nullptr;
  const bool lenient = (fault("works-before-init") && before_init) || (fault("works-after-shutdown") && !before_init);
  if (status == LRA_WRONG_STATE && lenient && count != nullptr) {
    *count = 0;
    return LRA_OK;
  }
  return status;
}

lra_status faulty_info(lra_context* context, std::uint32_t device, lra_device_info* info, lra_error* error) {
  const bool longer = info != nullptr && info->struct_size > sizeof *info;
  lra_error scratch{};
  scratch.struct_size = sizeof scratch;
  const bool silent = fault("fails-in-silence");
  const lra_status status = good.device_info(context, device, info, silent ? &scratch : error);
  if (fault("writes-on-failure") && status != LRA_OK && info != nullptr) info->memory_total = 0;
  if (status != LRA_OK) return status;
  if (fault("info-writes-on") && longer) reinterpret_cast<char*>(info)[sizeof *info] = 1;
  if (fault("name-without-end")) std::memset(info->name, 'x', sizeof info->name);
  if (fault("other-torch-index")) info->torch_index = 3;
  if (fault("writes-function-error") && error != nullptr) error->code = LRA_OK;
  return status;
}

lra_status faulty_synchronize(lra_context* context, const lra_synchronize_args* args, lra_error* error) {
  if (args == nullptr || args->struct_size < sizeof *args) return good.synchronize(context, args, error);
  lra_synchronize_args known = *args;
  known.struct_size = sizeof known;
  if (fault("reads-past-arguments")) {
    static volatile char seen;
    seen = reinterpret_cast<const char*>(args)[args->struct_size];
    (void)seen;
  }
  return good.synchronize(context, fault("drops-fields") ? &known : args, error);
}

lra_status faulty_selftest(lra_context* context, std::uint32_t device, lra_error* error) {
  const lra_status status = good.selftest(context, device, error);
  if (fault("prints")) std::puts("selftest passed");
  if (fault("crashes")) raise(SIGSEGV);
  if (fault("exits")) _exit(0);
  while (fault("hangs")) pause();
  return fault("fails-selftest") && status == LRA_OK ? LRA_INTERNAL : status;
}

lra_status any_device_seed(lra_context* context, std::uint32_t device, std::uint64_t seed, lra_error* error) {
  return good.seed(context, device > 1 ? 0 : device, seed, error);
}

lra_status any_extension(lra_context* context, const char* id, std::uint64_t size, const void** table,
                         lra_error* error) {
  const lra_status status = good.get_extension(context, id, size, table, error);
  if (status != LRA_UNSUPPORTED) return status;
  *table = &good;
  return LRA_OK;
}

}  // namespace

void spoil_functions(lra_api& api) {
  api.init = noting_init;
  api.device_count = faulty_count;
  api.device_info = faulty_info;
  api.synchronize = faulty_synchronize;
  api.selftest = faulty_selftest;
  if (fault("shuts-down-open-scopes")) api.shutdown = forgiving_shutdown;
  if (fault("seeds-any-device")) api.seed = any_device_seed;
  if (fault("any-extension")) api.get_extension = any_extension;
}

}  // namespace broken
