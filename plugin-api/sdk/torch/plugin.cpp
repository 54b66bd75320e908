#include "sdk/torch/plugin.h"

#include <torch/version.h>

#include <atomic>

#include "sdk/handshake.h"
#include "sdk/structs.h"
#include "sdk/torch/autocast.h"
#include "sdk/torch/device.h"
#include "sdk/torch/errors.h"
#include "sdk/torch/memory.h"
#include "sdk/torch/scaler.h"

struct lra_context {
  std::unique_ptr<lerobot::sdk::Backend> backend;
  std::vector<lra_device_info> devices;
};

namespace lerobot::sdk {
namespace {

/// The one context, between init and shutdown.
std::atomic<lra_context*> live{nullptr};

lra_context& checked(lra_context* context) {
  lra_context* expected = live;
  if (expected == nullptr) throw Failure(LRA_WRONG_STATE, "the plugin is not initialized");
  if (context != expected) throw Failure(LRA_INVALID_ARGUMENT, "the context is not the one that init gave");
  return *context;
}

const lra_device_info& checked_device(const lra_context& context, std::uint32_t ordinal) {
  if (ordinal >= context.devices.size()) {
    throw Failure(LRA_INVALID_ARGUMENT,
                  "device " + std::to_string(ordinal) + " of " + std::to_string(context.devices.size()));
  }
  return context.devices[ordinal];
}

c10::Device torch_device(const lra_context& context, std::uint32_t ordinal) {
  const lra_device_info& info = checked_device(context, ordinal);
  return {static_cast<c10::DeviceType>(info.torch_type), static_cast<c10::DeviceIndex>(info.torch_index)};
}

AutocastSupport autocast_support(lra_context& context, std::uint32_t device, std::uint32_t precision) {
  checked_device(context, device);
  if (precision > LRA_PRECISION_FP16) {
    throw Failure(LRA_INVALID_ARGUMENT, "precision " + std::to_string(precision) + " does not exist");
  }
  if (precision == LRA_PRECISION_FLOAT32) return {LRA_SUPPORT_NATIVE, ""};
  return context.backend->autocast_support(device, precision);
}

void check_tf32(std::uint32_t value, const char* name) {
  if (value > LRA_TF32_ON) {
    throw Failure(LRA_INVALID_ARGUMENT, std::string(name) + " is " + std::to_string(value) + ", needed 0, 1 or 2");
  }
}

template <typename Pointer>
void check_not_null(Pointer* pointer, const char* name) {
  if (pointer == nullptr) throw Failure(LRA_INVALID_ARGUMENT, std::string(name) + " is null");
}

lra_status init(const lra_init_args* args, lra_context** context, lra_error* error) {
  return torch_guarded(error, [&] {
    const lra_init_args own = read_args(args, "lra_init_args");
    check_reserved(own.reserved, "lra_init_args.reserved");
    check_not_null(context, "context");
    if (live != nullptr) throw Failure(LRA_WRONG_STATE, "the plugin is already initialized");
    auto made = std::make_unique<lra_context>();
    made->backend = make_backend(Log(own.log, own.log_context));
    made->devices = made->backend->devices();
    *context = made.release();
    live = *context;
  });
}

lra_status shutdown(lra_context* context, lra_error* error) {
  return torch_guarded(error, [&] {
    checked(context);
    if (const std::uint64_t open = open_autocast_scopes(); open != 0) {
      throw Failure(LRA_WRONG_STATE, std::to_string(open) + " autocast scopes are still open");
    }
    live = nullptr;
    delete context;
  });
}

lra_status device_count(lra_context* context, std::uint32_t* count, lra_error* error) {
  return torch_guarded(error, [&] {
    check_not_null(count, "count");
    *count = static_cast<std::uint32_t>(checked(context).devices.size());
  });
}

lra_status device_info(lra_context* context, std::uint32_t device, lra_device_info* info, lra_error* error) {
  return torch_guarded(error, [&] {
    check_struct(info, "lra_device_info");
    write_output(info, checked_device(checked(context), device));
  });
}

lra_status activate_device(lra_context* context, std::uint32_t device, lra_error* error) {
  return torch_guarded(error, [&] { activate(torch_device(checked(context), device)); });
}

lra_status synchronize_device(lra_context* context, const lra_synchronize_args* args, lra_error* error) {
  return torch_guarded(error, [&] {
    const lra_synchronize_args own = read_args(args, "lra_synchronize_args");
    check_reserved(own.stream, "lra_synchronize_args.stream");
    synchronize(torch_device(checked(context), own.device));
  });
}

lra_status selftest(lra_context* context, std::uint32_t device, lra_error* error) {
  return torch_guarded(error, [&] { check_arithmetic(torch_device(checked(context), device)); });
}

lra_status autocast_query(lra_context* context, std::uint32_t device, std::uint32_t precision,
                          lra_autocast_support* support, lra_error* error) {
  return torch_guarded(error, [&] {
    check_struct(support, "lra_autocast_support");
    const AutocastSupport found = autocast_support(checked(context), device, precision);
    lra_autocast_support answer{};
    answer.support = found.support;
    copy_text(answer.reason, found.reason);
    write_output(support, answer);
  });
}

lra_status autocast_enter(lra_context* context, const lra_autocast_args* args, std::uint64_t* token, lra_error* error) {
  return torch_guarded(error, [&] {
    const lra_autocast_args own = read_args(args, "lra_autocast_args");
    check_reserved(own.reserved, "lra_autocast_args.reserved");
    check_not_null(token, "token");
    const AutocastSupport found = autocast_support(checked(context), own.device, own.precision);
    if (found.support == LRA_SUPPORT_NONE) throw Failure(LRA_UNSUPPORTED, found.reason);
    *token = enter_autocast(torch_device(*context, own.device).type(), own.precision);
  });
}

lra_status autocast_exit(lra_context* context, std::uint64_t token, lra_error* error) {
  return torch_guarded(error, [&] {
    checked(context);
    exit_autocast(token);
  });
}

lra_status scaler_unscale(lra_context* context, const lra_unscale_args* args, lra_error* error) {
  return torch_guarded(error, [&] {
    const lra_unscale_args own = read_args(args, "lra_unscale_args");
    const c10::Device device = torch_device(checked(context), own.device);
    unscale_gradients(device, own, scaler_kernels(device.type()));
  });
}

lra_status scaler_update(lra_context* context, const lra_scaler_update_args* args, lra_error* error) {
  return torch_guarded(error, [&] {
    const lra_scaler_update_args own = read_args(args, "lra_scaler_update_args");
    const c10::Device device = torch_device(checked(context), own.device);
    update_scale(device, own, scaler_kernels(device.type()));
  });
}

lra_status tf32_get(lra_context* context, lra_tf32* state, lra_error* error) {
  return torch_guarded(error, [&] {
    check_struct(state, "lra_tf32");
    write_output(state, checked(context).backend->tf32());
  });
}

lra_status tf32_set(lra_context* context, const lra_tf32* settings, lra_error* error) {
  return torch_guarded(error, [&] {
    const lra_tf32 own = read_args(settings, "lra_tf32");
    check_reserved(own.reserved, "lra_tf32.reserved");
    check_tf32(own.matmul, "lra_tf32.matmul");
    check_tf32(own.convolution, "lra_tf32.convolution");
    checked(context).backend->set_tf32(own);
  });
}

lra_status memory_stats(lra_context* context, std::uint32_t device, lra_memory_stats* stats, lra_error* error) {
  return torch_guarded(error, [&] {
    check_struct(stats, "lra_memory_stats");
    write_output(stats, read_memory(torch_device(checked(context), device)));
  });
}

lra_status seed(lra_context* context, std::uint32_t device, std::uint64_t value, lra_error* error) {
  return torch_guarded(error, [&] { seed_generator(torch_device(checked(context), device), value); });
}

}  // namespace

lra_tf32 Backend::tf32() {
  return {.struct_size = sizeof(lra_tf32), .matmul = LRA_TF32_OFF, .convolution = LRA_TF32_OFF, .reserved = 0};
}

void Backend::set_tf32(const lra_tf32& settings) {
  if (settings.matmul == LRA_TF32_ON || settings.convolution == LRA_TF32_ON) {
    throw Failure(LRA_UNSUPPORTED, "this device has no TF32", "Leave it unset, or set it to false.");
  }
}

lra_api torch_plugin(std::string_view id, std::string_view version, Tf32 tf32) {
  lra_api api = describe_plugin(id, version, TORCH_VERSION);
  api.init = init;
  api.shutdown = shutdown;
  api.device_count = device_count;
  api.device_info = device_info;
  api.activate_device = activate_device;
  api.synchronize = synchronize_device;
  api.selftest = selftest;
  api.autocast_query = autocast_query;
  api.autocast_enter = autocast_enter;
  api.autocast_exit = autocast_exit;
  api.scaler_unscale = scaler_unscale;
  api.scaler_update = scaler_update;
  if (tf32 == Tf32::kPresent) {
    api.tf32_get = tf32_get;
    api.tf32_set = tf32_set;
  }
  api.memory_stats = memory_stats;
  api.seed = seed;
  return api;
}

}  // namespace lerobot::sdk
