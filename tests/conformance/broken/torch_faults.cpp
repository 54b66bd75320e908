// Faults in torch's autocast state.
#include <ATen/autocast_mode.h>

#include <atomic>

#include "fault.h"

namespace broken {
namespace {

std::atomic<int> open{0};

lra_status faulty_enter(lra_context* context, const lra_autocast_args* args, std::uint64_t* token, lra_error* error) {
  const lra_status status = good.autocast_enter(context, args, token, error);
  if (status != LRA_OK) return status;
  ++open;
  // One level that is never left: the outermost exit is then none, and the cache stays.
  if (fault("keeps-cache") && open == 1) at::autocast::increment_nesting();
  if (fault("fp16-for-bf16") && args->precision == LRA_PRECISION_BF16) {
    at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
  }
  return status;
}

lra_status counting_exit(lra_context* context, std::uint64_t token, lra_error* error) {
  const lra_status status = good.autocast_exit(context, token, error);
  if (status == LRA_OK) --open;
  return status;
}

/// A thread that comes while a scope is open anywhere gets it too.
lra_status spreading_activate(lra_context* context, std::uint32_t device, lra_error* error) {
  if (open > 0) at::autocast::set_autocast_enabled(at::kCPU, true);
  return good.activate_device(context, device, error);
}

}  // namespace

void spoil_with_torch(lra_api& api) {
  const bool spreads = fault("spreads-scopes");
  if (fault("keeps-cache") || fault("fp16-for-bf16") || spreads) {
    api.autocast_enter = faulty_enter;
    api.autocast_exit = counting_exit;
  }
  if (spreads) api.activate_device = spreading_activate;
}

}  // namespace broken
