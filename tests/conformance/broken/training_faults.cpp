// Faults in what training uses: autocast, scaler, TF32, seed, memory.
#include <algorithm>
#include <thread>
#include <vector>

#include "fault.h"

namespace broken {
namespace {

lra_status query_without_reason(lra_context* context, std::uint32_t device, std::uint32_t precision,
                                lra_autocast_support* support, lra_error* error) {
  const lra_status status = good.autocast_query(context, device, precision, support, error);
  if (status == LRA_OK) support->reason[0] = 0;
  return status;
}

/// A float32 scope that does not turn autocast off.
lra_status enter_bf16_always(lra_context* context, const lra_autocast_args* args, std::uint64_t* token,
                             lra_error* error) {
  lra_autocast_args other = *args;
  other.precision = LRA_PRECISION_BF16;
  return good.autocast_enter(context, &other, token, error);
}

lra_status enter_on_one_thread(lra_context* context, const lra_autocast_args* args, std::uint64_t* token,
                               lra_error* error) {
  static const std::thread::id first = std::this_thread::get_id();
  if (std::this_thread::get_id() != first) return LRA_WRONG_STATE;
  return good.autocast_enter(context, args, token, error);
}

lra_status exit_in_any_order(lra_context* context, std::uint64_t token, lra_error* error) {
  const lra_status status = good.autocast_exit(context, token, error);
  return status == LRA_WRONG_STATE ? LRA_OK : status;
}

lra_status unscale_twice(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  const lra_status status = good.scaler_unscale(context, args, error);
  return status == LRA_OK ? good.scaler_unscale(context, args, error) : status;
}

/// Raises a flag that nobody sees.
lra_status unscale_without_flag(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  float nobodys = 0;
  lra_tensor_view flag = *args->found_inf;
  flag.base = &nobodys;
  flag.byte_offset = 0;
  lra_unscale_args other = *args;
  other.found_inf = &flag;
  return good.scaler_unscale(context, &other, error);
}

/// Forgets what was found before.
lra_status unscale_afresh(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  const lra_tensor_view& flag = *args->found_inf;
  const bool is_cell = flag.base != nullptr && flag.dtype_bits == 32;
  if (is_cell) *reinterpret_cast<float*>(static_cast<char*>(flag.base) + flag.byte_offset) = 0;
  return good.scaler_unscale(context, args, error);
}

/// Takes every gradient as if it were contiguous.
lra_status unscale_contiguous(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  std::vector<lra_tensor_view> views(args->gradients, args->gradients + args->gradient_count);
  for (lra_tensor_view& view : views) {
    std::int64_t stride = 1;
    for (std::uint32_t i = view.ndim; i-- > 0; stride *= view.shape[i]) view.strides[i] = stride;
  }
  lra_unscale_args other = *args;
  other.gradients = views.data();
  return good.scaler_unscale(context, &other, error);
}

lra_status unscale_some(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  lra_unscale_args other = *args;
  other.gradient_count = std::min<std::uint64_t>(args->gradient_count, 128);
  return good.scaler_unscale(context, &other, error);
}

/// Finds the wrong view when the ones before it are done.
lra_status unscale_one_by_one(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  for (std::uint64_t i = 0; i < args->gradient_count; ++i) {
    lra_unscale_args other = *args;
    other.gradients = args->gradients + i;
    other.gradient_count = 1;
    if (const lra_status status = good.scaler_unscale(context, &other, error); status != LRA_OK) return status;
  }
  return LRA_OK;
}

/// Grows one step late.
lra_status update_late(lra_context* context, const lra_scaler_update_args* args, lra_error* error) {
  lra_scaler_update_args other = *args;
  ++other.growth_interval;
  return good.scaler_update(context, &other, error);
}

lra_status update_with_any_factor(lra_context* context, const lra_scaler_update_args* args, lra_error* error) {
  return args->growth_factor == 1 ? LRA_OK : good.scaler_update(context, args, error);
}

lra_status update_with_any_interval(lra_context* context, const lra_scaler_update_args* args, lra_error* error) {
  lra_scaler_update_args other = *args;
  if (other.growth_interval > 0x7fffffffU) other.growth_interval = 0x7fffffffU;
  return good.scaler_update(context, &other, error);
}

/// One switch that says no when the two should differ: no fault.
lra_status set_tf32_alike(lra_context* context, const lra_tf32* settings, lra_error* error) {
  lra_tf32 state{};
  state.struct_size = sizeof state;
  if (const lra_status status = good.tf32_get(context, &state, error); status != LRA_OK) return status;
  if (settings->matmul != LRA_TF32_LEAVE) state.matmul = settings->matmul;
  if (settings->convolution != LRA_TF32_LEAVE) state.convolution = settings->convolution;
  const bool valid = state.matmul <= LRA_TF32_ON && state.convolution <= LRA_TF32_ON;
  return valid && state.matmul != state.convolution ? LRA_UNSUPPORTED : good.tf32_set(context, settings, error);
}

/// A native precision without native units.
lra_status query_above_bits(lra_context* context, std::uint32_t device, std::uint32_t precision,
                            lra_autocast_support* support, lra_error* error) {
  const lra_status status = good.autocast_query(context, device, precision, support, error);
  if (status == LRA_OK && precision == LRA_PRECISION_BF16) {
    support->support = LRA_SUPPORT_NATIVE;
    support->reason[0] = 0;
  }
  return status;
}

lra_status set_tf32_of_matmul(lra_context* context, const lra_tf32* settings, lra_error* error) {
  lra_tf32 other = *settings;
  if (other.convolution == LRA_TF32_ON) other.convolution = other.matmul;
  return good.tf32_set(context, &other, error);
}

lra_status seed_once(lra_context* context, std::uint32_t device, std::uint64_t seed, lra_error* error) {
  static std::uint64_t calls = 0;
  return good.seed(context, device, seed + ++calls, error);
}

lra_status constant_stats(lra_context* context, std::uint32_t device, lra_memory_stats* stats, lra_error* error) {
  const lra_status status = good.memory_stats(context, device, stats, error);
  if (status == LRA_OK) stats->allocated = stats->cached = stats->allocated_peak = stats->cached_peak = 1000;
  return status;
}

}  // namespace

void spoil_training(lra_api& api) {
  if (fault("query-without-reason")) api.autocast_query = query_without_reason;
  if (fault("query-above-bits")) api.autocast_query = query_above_bits;
  if (fault("no-autocast")) api.autocast_query = nullptr, api.autocast_enter = nullptr, api.autocast_exit = nullptr;
  if (fault("float32-scope-is-bf16")) api.autocast_enter = enter_bf16_always;
  if (fault("scopes-on-one-thread")) api.autocast_enter = enter_on_one_thread;
  if (fault("exits-in-any-order")) api.autocast_exit = exit_in_any_order;
  if (fault("unscales-twice")) api.scaler_unscale = unscale_twice;
  if (fault("never-flags")) api.scaler_unscale = unscale_without_flag;
  if (fault("clears-flag")) api.scaler_unscale = unscale_afresh;
  if (fault("ignores-strides")) api.scaler_unscale = unscale_contiguous;
  if (fault("unscales-some")) api.scaler_unscale = unscale_some;
  if (fault("unscales-before-it-looks")) api.scaler_unscale = unscale_one_by_one;
  if (fault("grows-late")) api.scaler_update = update_late;
  if (fault("any-factor")) api.scaler_update = update_with_any_factor;
  if (fault("any-interval")) api.scaler_update = update_with_any_interval;
  if (fault("one-tf32-switch")) api.tf32_set = set_tf32_of_matmul;
  if (fault("one-honest-tf32-switch")) api.tf32_set = set_tf32_alike;
  if (fault("seeds-once")) api.seed = seed_once;
  if (fault("constant-stats")) api.memory_stats = constant_stats;
}

}  // namespace broken
