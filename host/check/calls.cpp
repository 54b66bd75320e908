// Each function of the contract with arguments that make it succeed.
#include <cstddef>

#include "host/accel/abi.h"
#include "host/base/text.h"
#include "host/check/call.h"

namespace lerobot::check {
namespace {

using Kind = Parameter::Kind;
using Pointers = std::vector<void*>;

std::vector<TextField> device_texts() {
  return {LEROBOT_CHECK_FIELD(lra_device_info, torch_device), LEROBOT_CHECK_FIELD(lra_device_info, name),
          LEROBOT_CHECK_FIELD(lra_device_info, pci_address), LEROBOT_CHECK_FIELD(lra_device_info, uuid),
          LEROBOT_CHECK_FIELD(lra_device_info, architecture)};
}

Parameter inside(Parameter parameter, std::size_t parent, std::size_t offset) {
  parameter.parent = parent;
  parameter.offset = offset;
  return parameter;
}

Call probe_call(Run& run) {
  const lra_probe_fn probe = run.probe();
  const std::string directory = run.subject().package.directory.string();
  const std::string archs = join(run.subject().manifest().device_archs, ";");
  auto args = sized<lra_probe_args>();
  args.abi_major_min = accel::kAbiMajorMin;
  args.abi_major_max = accel::kAbiMajorMax;
  args.package_directory_size = directory.size();
  args.device_archs_size = archs.size();
  auto result = sized<lra_probe_result>();
  result.device_capacity = 1;
  Call call{.name = LRA_PROBE_SYMBOL, .parameters = {}, .invoke = {}};
  call.parameters = {
      structure("args", Kind::kArguments, args),
      structure("result", Kind::kOutput, result),
      inside(structure("result.devices", Kind::kOutput, sized<lra_device_info>()), 1,
             offsetof(lra_probe_result, devices)),
      inside(text("args.package_directory", directory), 0, offsetof(lra_probe_args, package_directory)),
      inside(text("args.device_archs", archs), 0, offsetof(lra_probe_args, device_archs)),
  };
  call.parameters[0].reserved = {LEROBOT_CHECK_FIELD(lra_probe_args, reserved)};
  call.parameters[1].texts = {LEROBOT_CHECK_FIELD(lra_probe_result, driver_version),
                              LEROBOT_CHECK_FIELD(lra_probe_result, reason),
                              LEROBOT_CHECK_FIELD(lra_probe_result, hint)};
  call.parameters[1].answers_in_place = true;
  call.parameters[2].texts = device_texts();
  call.parameters[2].answers_in_place = true;
  call.invoke = [probe](lra_context*, const Pointers& p, lra_error* error) {
    return probe(static_cast<lra_probe_args*>(p[0]), static_cast<lra_probe_result*>(p[1]), error);
  };
  call.needs_context = false;
  return call;
}

Call handshake_call(Run& run) {
  const lra_get_api_fn get_api = run.get_api();
  const lra_host_info host = run.host_info();
  Call call{.name = LRA_GET_API_SYMBOL, .parameters = {}, .invoke = {}};
  call.parameters = {
      structure("host", Kind::kArguments, host),
      structure("api", Kind::kOutput, sized<lra_api>()),
      inside(text("host.torch_version", {host.torch_version, host.torch_version_size}), 0,
             offsetof(lra_host_info, torch_version)),
      inside(text("host.cxx_abi", {host.cxx_abi, host.cxx_abi_size}), 0, offsetof(lra_host_info, cxx_abi)),
      inside(text("host.host_version", {host.host_version, host.host_version_size}), 0,
             offsetof(lra_host_info, host_version)),
  };
  call.parameters[0].reserved = {LEROBOT_CHECK_FIELD(lra_host_info, reserved)};
  call.parameters[1].first_size = offsetof(lra_api, init);
  call.parameters[1].texts = {LEROBOT_CHECK_FIELD(lra_api, plugin_id), LEROBOT_CHECK_FIELD(lra_api, plugin_version),
                              LEROBOT_CHECK_FIELD(lra_api, torch_version), LEROBOT_CHECK_FIELD(lra_api, cxx_abi)};
  call.invoke = [get_api](lra_context*, const Pointers& p, lra_error* error) {
    return get_api(static_cast<lra_host_info*>(p[0]), static_cast<lra_api*>(p[1]), error);
  };
  call.needs_context = false;
  return call;
}

Call init_call(Run& run) {
  Call call{.name = "init", .parameters = {}, .invoke = {}};
  call.parameters = {structure("args", Kind::kArguments, sized<lra_init_args>()), cell<lra_context*>("context")};
  call.parameters[0].reserved = {LEROBOT_CHECK_FIELD(lra_init_args, reserved)};
  call.invoke = [&run](lra_context*, const Pointers& p, lra_error* error) {
    return run.api().init(static_cast<lra_init_args*>(p[0]), static_cast<lra_context**>(p[1]), error);
  };
  call.undo = [&run](const Pointers& p) {
    run.set_context(*static_cast<lra_context**>(p[1]));
    run.stop();
  };
  call.needs_context = false;
  return call;
}

void add_device_calls(Run& run, std::vector<Call>& calls) {
  calls.push_back({.name = "device_count",
                   .parameters = {cell<std::uint32_t>("count")},
                   .invoke = [&run](lra_context* context, const Pointers& p, lra_error* error) {
                     return run.api().device_count(context, static_cast<std::uint32_t*>(p[0]), error);
                   }});
  Parameter info = structure("info", Kind::kOutput, sized<lra_device_info>());
  info.texts = device_texts();
  calls.push_back({.name = "device_info",
                   .parameters = {info},
                   .invoke = [&run](lra_context* context, const Pointers& p, lra_error* error) {
                     return run.api().device_info(context, 0, static_cast<lra_device_info*>(p[0]), error);
                   }});
  calls.push_back({.name = "activate_device",
                   .parameters = {},
                   .invoke = [&run](lra_context* context, const Pointers&, lra_error* error) {
                     return run.api().activate_device(context, 0, error);
                   }});
  Parameter args = structure("args", Kind::kArguments, sized<lra_synchronize_args>());
  args.reserved = {LEROBOT_CHECK_FIELD(lra_synchronize_args, stream)};
  calls.push_back({.name = "synchronize",
                   .parameters = {args},
                   .invoke = [&run](lra_context* context, const Pointers& p, lra_error* error) {
                     return run.api().synchronize(context, static_cast<lra_synchronize_args*>(p[0]), error);
                   }});
  calls.push_back(
      {.name = "selftest", .parameters = {}, .invoke = [&run](lra_context* context, const Pointers&, lra_error* error) {
         return run.api().selftest(context, 0, error);
       }});
}

void add_autocast_calls(Run& run, std::vector<Call>& calls) {
  if (!run.api().autocast_query || !run.api().autocast_enter || !run.api().autocast_exit) return;
  Parameter support = structure("support", Kind::kOutput, sized<lra_autocast_support>());
  support.texts = {LEROBOT_CHECK_FIELD(lra_autocast_support, reason)};
  calls.push_back({.name = "autocast_query",
                   .parameters = {support},
                   .invoke = [&run](lra_context* context, const Pointers& p, lra_error* error) {
                     return run.api().autocast_query(context, 0, LRA_PRECISION_BF16,
                                                     static_cast<lra_autocast_support*>(p[0]), error);
                   }});
  Parameter args = structure("args", Kind::kArguments, sized<lra_autocast_args>());
  args.reserved = {LEROBOT_CHECK_FIELD(lra_autocast_args, reserved)};
  calls.push_back({.name = "autocast_enter",
                   .parameters = {args, cell<std::uint64_t>("token")},
                   .invoke =
                       [&run](lra_context* context, const Pointers& p, lra_error* error) {
                         return run.api().autocast_enter(context, static_cast<lra_autocast_args*>(p[0]),
                                                         static_cast<std::uint64_t*>(p[1]), error);
                       },
                   .undo =
                       [&run](const Pointers& p) {
                         run.api().autocast_exit(run.context(), *static_cast<std::uint64_t*>(p[1]), nullptr);
                       }});
  calls.push_back({.name = "autocast_exit",
                   .parameters = {},
                   .invoke = [&run](lra_context* context, const Pointers&, lra_error* error) {
                     const auto enter = sized<lra_autocast_args>();
                     std::uint64_t token = 0;
                     run.api().autocast_enter(run.context(), &enter, &token, nullptr);
                     const lra_status status = run.api().autocast_exit(context, token, error);
                     if (status != LRA_OK) run.api().autocast_exit(run.context(), token, nullptr);
                     return status;
                   }});
}

/// A tensor's view as a parameter; the tensor lives as long as the call.
Parameter view_parameter(const std::string& name, const std::shared_ptr<checker::Tensor>& tensor, std::size_t offset) {
  Parameter view = inside(structure(name, Kind::kArguments, tensor->view()), 0, offset);
  view.reserved = {LEROBOT_CHECK_FIELD(lra_tensor_view, reserved)};
  return view;
}

void add_scaler_calls(Run& run, std::vector<Call>& calls) {
  if (!run.has_tensors()) return;
  const auto number = [&run](checker::Type type, float value) {
    return std::shared_ptr<checker::Tensor>(run.tensors().make(type, {1}, {value}));
  };
  const auto gradient = number(checker::Type::kFloat32, 2);
  const auto found_inf = number(checker::Type::kFloat32, 0);
  const auto one = number(checker::Type::kFloat32, 1);
  const auto tracker = number(checker::Type::kInt32, 0);
  if (run.api().scaler_unscale) {
    auto args = sized<lra_unscale_args>();
    args.gradient_count = 1;
    Parameter parameter = structure("args", Kind::kArguments, args);
    parameter.reserved = {LEROBOT_CHECK_FIELD(lra_unscale_args, stream)};
    calls.push_back(
        {.name = "scaler_unscale",
         .parameters = {parameter, view_parameter("args.gradients", gradient, offsetof(lra_unscale_args, gradients)),
                        view_parameter("args.found_inf", found_inf, offsetof(lra_unscale_args, found_inf)),
                        view_parameter("args.inv_scale", one, offsetof(lra_unscale_args, inv_scale))},
         .invoke = [&run, gradient, found_inf, one](lra_context* context, const Pointers& p, lra_error* error) {
           return run.api().scaler_unscale(context, static_cast<lra_unscale_args*>(p[0]), error);
         }});
  }
  if (run.api().scaler_update) {
    auto args = sized<lra_scaler_update_args>();
    args.growth_factor = 2;
    args.backoff_factor = 0.5;
    args.growth_interval = 2000;
    Parameter parameter = structure("args", Kind::kArguments, args);
    parameter.reserved = {LEROBOT_CHECK_FIELD(lra_scaler_update_args, stream),
                          LEROBOT_CHECK_FIELD(lra_scaler_update_args, reserved)};
    calls.push_back(
        {.name = "scaler_update",
         .parameters = {parameter, view_parameter("args.scale", one, offsetof(lra_scaler_update_args, scale)),
                        view_parameter("args.growth_tracker", tracker,
                                       offsetof(lra_scaler_update_args, growth_tracker)),
                        view_parameter("args.found_inf", found_inf, offsetof(lra_scaler_update_args, found_inf))},
         .invoke = [&run, one, tracker, found_inf](lra_context* context, const Pointers& p, lra_error* error) {
           return run.api().scaler_update(context, static_cast<lra_scaler_update_args*>(p[0]), error);
         }});
  }
}

void add_setting_calls(Run& run, std::vector<Call>& calls) {
  if (run.api().tf32_get && run.api().tf32_set) {
    calls.push_back({.name = "tf32_get",
                     .parameters = {structure("state", Kind::kOutput, sized<lra_tf32>())},
                     .invoke = [&run](lra_context* context, const Pointers& p, lra_error* error) {
                       return run.api().tf32_get(context, static_cast<lra_tf32*>(p[0]), error);
                     }});
    Parameter settings = structure("settings", Kind::kArguments, sized<lra_tf32>());
    settings.reserved = {LEROBOT_CHECK_FIELD(lra_tf32, reserved)};
    calls.push_back({.name = "tf32_set",
                     .parameters = {settings},
                     .invoke = [&run](lra_context* context, const Pointers& p, lra_error* error) {
                       return run.api().tf32_set(context, static_cast<lra_tf32*>(p[0]), error);
                     }});
  }
  if (run.api().memory_stats) {
    auto stats = sized<lra_memory_stats>();
    const lra_status answer = run.api().memory_stats(run.context(), 0, &stats, nullptr);
    calls.push_back({.name = "memory_stats",
                     .parameters = {structure("stats", Kind::kOutput, sized<lra_memory_stats>())},
                     .invoke =
                         [&run](lra_context* context, const Pointers& p, lra_error* error) {
                           return run.api().memory_stats(context, 0, static_cast<lra_memory_stats*>(p[0]), error);
                         },
                     .answer = answer == LRA_UNSUPPORTED ? LRA_UNSUPPORTED : LRA_OK});
  }
  if (run.api().seed) {
    calls.push_back(
        {.name = "seed", .parameters = {}, .invoke = [&run](lra_context* context, const Pointers&, lra_error* error) {
           return run.api().seed(context, 0, 1, error);
         }});
  }
  if (run.api().get_extension) {
    constexpr std::string_view kNobodys = "lerobot.check.nobodys_extension/1";
    calls.push_back({.name = "get_extension",
                     .parameters = {text("id", kNobodys), cell<const void*>("table")},
                     .invoke =
                         [&run, kNobodys](lra_context* context, const Pointers& p, lra_error* error) {
                           return run.api().get_extension(context, static_cast<const char*>(p[0]), kNobodys.size(),
                                                          static_cast<const void**>(p[1]), error);
                         },
                     .answer = LRA_UNSUPPORTED});
  }
}

Call shutdown_call(Run& run) {
  return {
      .name = "shutdown", .parameters = {}, .invoke = [&run](lra_context* context, const Pointers&, lra_error* error) {
        const lra_status status = run.api().shutdown(context, error);
        if (status == LRA_OK) run.set_context(nullptr);
        return status;
      }};
}

}  // namespace

std::vector<Call> entry_calls(Run& run) {
  std::vector<Call> calls = {probe_call(run)};
  if (run.subject().has_torch) calls.push_back(handshake_call(run));
  return calls;
}

std::vector<Call> table_calls(Run& run) {
  run.start();
  std::vector<Call> calls;
  add_device_calls(run, calls);
  add_autocast_calls(run, calls);
  add_scaler_calls(run, calls);
  add_setting_calls(run, calls);
  calls.push_back(shutdown_call(run));
  calls.push_back(init_call(run));  // last: it wants nothing started
  return calls;
}

}  // namespace lerobot::check
