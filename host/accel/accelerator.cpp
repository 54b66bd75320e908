#include "host/accel/accelerator.h"

#include "host/accel/abi.h"
#include "host/base/error.h"
#include "host/base/log.h"

namespace lerobot::accel {
namespace {

/// Calls an entry of the table and throws when it fails.
template <class Function, class... Args>
void call(std::string_view name, Function* function, lra_context* context, Args... args) {
  lra_error error{};
  error.struct_size = sizeof error;
  check_status(function(context, args..., &error), error, name);
}

/// Like call, but false when the plugin does not do it.
template <class Function, class... Args>
bool call_if_supported(std::string_view name, Function* function, lra_context* context, Args... args) {
  if (!function) return false;
  lra_error error{};
  error.struct_size = sizeof error;
  const lra_status status = function(context, args..., &error);
  if (status == LRA_UNSUPPORTED) return false;
  check_status(status, error, name);
  return true;
}

template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof value;
  return value;
}

}  // namespace

Accelerator::Accelerator(const lra_api& api, lra_context* context, std::uint32_t device)
    : api_(api),
      context_(context),
      device_(device),
      plugin_id_(bounded_text(api.plugin_id)),
      plugin_version_(bounded_text(api.plugin_version)) {
  read_device_info();
}

Accelerator::~Accelerator() {
  auto error = sized<lra_error>();
  const lra_status status = api_.shutdown(context_, &error);
  if (status != LRA_OK) log::warn("{}: shutdown: {}", plugin_id_, bounded_text(error.message));
}

void Accelerator::read_device_info() {
  auto info = sized<lra_device_info>();
  call("device_info", api_.device_info, context_, device_, &info);
  info_.name = bounded_text(info.name);
  info_.torch_device = bounded_text(info.torch_device);
  info_.torch_type = info.torch_type;
  info_.torch_index = info.torch_index;
  info_.capabilities = info.capabilities;
  info_.memory_total = info.memory_total;
  info_.pci_address = bounded_text(info.pci_address);
  info_.architecture = bounded_text(info.architecture);
}

void Accelerator::activate_on_this_thread() {
  call("activate_device", api_.activate_device, context_, device_);
}

void Accelerator::synchronize() {
  auto args = sized<lra_synchronize_args>();
  args.device = device_;
  call("synchronize", api_.synchronize, context_, &args);
}

void Accelerator::selftest() {
  call("selftest", api_.selftest, context_, device_);
}

bool Accelerator::has_autocast() const {
  return api_.autocast_query && api_.autocast_enter && api_.autocast_exit;
}

AutocastSupport Accelerator::autocast_query(Precision precision) {
  if (!has_autocast()) {
    if (precision == Precision::kFloat32) return {Support::kNative, ""};
    return {Support::kNone, "the plugin " + plugin_id_ + " has no autocast"};
  }
  auto support = sized<lra_autocast_support>();
  call("autocast_query", api_.autocast_query, context_, device_, static_cast<std::uint32_t>(precision), &support);
  AutocastSupport answer;
  answer.reason = bounded_text(support.reason);
  if (support.support <= LRA_SUPPORT_NATIVE) answer.support = static_cast<Support>(support.support);
  return answer;
}

std::uint64_t Accelerator::autocast_enter(Precision precision) {
  if (!has_autocast()) fail(ErrorKind::kDevice, "the plugin {} has no autocast", plugin_id_);
  auto args = sized<lra_autocast_args>();
  args.device = device_;
  args.precision = static_cast<std::uint32_t>(precision);
  std::uint64_t token = 0;
  call("autocast_enter", api_.autocast_enter, context_, &args, &token);
  return token;
}

void Accelerator::autocast_exit(std::uint64_t token) {
  if (!has_autocast()) fail(ErrorKind::kDevice, "the plugin {} has no autocast", plugin_id_);
  call("autocast_exit", api_.autocast_exit, context_, token);
}

bool Accelerator::has_scaler_unscale() const {
  return api_.scaler_unscale != nullptr;
}
bool Accelerator::has_scaler_update() const {
  return api_.scaler_update != nullptr;
}

void Accelerator::scaler_unscale(std::span<const TensorView> gradients, const TensorView& found_inf,
                                 const TensorView& inv_scale) {
  if (!has_scaler_unscale()) fail(ErrorKind::kInternal, "the plugin {} has no scaler_unscale", plugin_id_);
  auto args = sized<lra_unscale_args>();
  args.device = device_;
  args.gradients = gradients.data();
  args.gradient_count = gradients.size();
  args.found_inf = &found_inf;
  args.inv_scale = &inv_scale;
  call("scaler_unscale", api_.scaler_unscale, context_, &args);
}

void Accelerator::scaler_update(const TensorView& scale, const TensorView& growth_tracker, const TensorView& found_inf,
                                const ScalerRule& rule) {
  if (!has_scaler_update()) fail(ErrorKind::kInternal, "the plugin {} has no scaler_update", plugin_id_);
  auto args = sized<lra_scaler_update_args>();
  args.device = device_;
  args.scale = &scale;
  args.growth_tracker = &growth_tracker;
  args.found_inf = &found_inf;
  args.growth_factor = rule.growth_factor;
  args.backoff_factor = rule.backoff_factor;
  args.growth_interval = rule.growth_interval;
  call("scaler_update", api_.scaler_update, context_, &args);
}

std::optional<Tf32State> Accelerator::tf32_get() {
  if (!api_.tf32_get || !api_.tf32_set) return std::nullopt;
  auto state = sized<lra_tf32>();
  if (!call_if_supported("tf32_get", api_.tf32_get, context_, &state)) return std::nullopt;
  const auto convert = [](std::uint32_t value) { return value == LRA_TF32_ON ? Tf32::kOn : Tf32::kOff; };
  return Tf32State{convert(state.matmul), convert(state.convolution)};
}

void Accelerator::tf32_set(const Tf32State& settings) {
  auto args = sized<lra_tf32>();
  args.matmul = static_cast<std::uint32_t>(settings.matmul);
  args.convolution = static_cast<std::uint32_t>(settings.convolution);
  lra_status (*const function)(lra_context*, const lra_tf32*, lra_error*) = api_.tf32_get ? api_.tf32_set : nullptr;
  if (call_if_supported("tf32_set", function, context_, static_cast<const lra_tf32*>(&args))) return;
  if (settings.matmul == Tf32::kOn || settings.convolution == Tf32::kOn) {
    fail(ErrorKind::kConfig, "TF32 is not supported on {} ({}). Use --tf32=false or null", info_.torch_device,
         info_.name);
  }
}

std::optional<lra_memory_stats> Accelerator::memory_stats() {
  auto stats = sized<lra_memory_stats>();
  if (!call_if_supported("memory_stats", api_.memory_stats, context_, device_, &stats)) return std::nullopt;
  return stats;
}

bool Accelerator::seed(std::uint64_t value) {
  return call_if_supported("seed", api_.seed, context_, device_, value);
}

const void* Accelerator::extension(const std::string& id) {
  const void* table = nullptr;
  if (!call_if_supported("get_extension", api_.get_extension, context_, id.c_str(), std::uint64_t{id.size()}, &table)) {
    return nullptr;
  }
  return table;
}

}  // namespace lerobot::accel
