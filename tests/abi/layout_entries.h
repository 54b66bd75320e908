/* Every field of every struct of the contract, in order. One that is missing leaves a gap, which the test finds. */
#define LRA_LAYOUT(STRUCT, FIELD)                \
  STRUCT(lra_error)                              \
  FIELD(lra_error, struct_size)                  \
  FIELD(lra_error, code)                         \
  FIELD(lra_error, vendor_code)                  \
  FIELD(lra_error, message)                      \
  FIELD(lra_error, hint)                         \
  STRUCT(lra_device_info)                        \
  FIELD(lra_device_info, struct_size)            \
  FIELD(lra_device_info, ordinal)                \
  FIELD(lra_device_info, torch_type)             \
  FIELD(lra_device_info, torch_index)            \
  FIELD(lra_device_info, capabilities)           \
  FIELD(lra_device_info, memory_total)           \
  FIELD(lra_device_info, memory_free)            \
  FIELD(lra_device_info, torch_device)           \
  FIELD(lra_device_info, name)                   \
  FIELD(lra_device_info, pci_address)            \
  FIELD(lra_device_info, uuid)                   \
  FIELD(lra_device_info, architecture)           \
  STRUCT(lra_probe_args)                         \
  FIELD(lra_probe_args, struct_size)             \
  FIELD(lra_probe_args, abi_major_min)           \
  FIELD(lra_probe_args, abi_major_max)           \
  FIELD(lra_probe_args, reserved)                \
  FIELD(lra_probe_args, package_directory)       \
  FIELD(lra_probe_args, package_directory_size)  \
  FIELD(lra_probe_args, device_archs)            \
  FIELD(lra_probe_args, device_archs_size)       \
  FIELD(lra_probe_args, torch_directory)         \
  FIELD(lra_probe_args, torch_directory_size)    \
  FIELD(lra_probe_args, torch_version)           \
  FIELD(lra_probe_args, torch_version_size)      \
  STRUCT(lra_probe_result)                       \
  FIELD(lra_probe_result, struct_size)           \
  FIELD(lra_probe_result, availability)          \
  FIELD(lra_probe_result, reason_code)           \
  FIELD(lra_probe_result, device_capacity)       \
  FIELD(lra_probe_result, devices)               \
  FIELD(lra_probe_result, device_count)          \
  FIELD(lra_probe_result, reserved)              \
  FIELD(lra_probe_result, driver_version)        \
  FIELD(lra_probe_result, reason)                \
  FIELD(lra_probe_result, hint)                  \
  STRUCT(lra_host_info)                          \
  FIELD(lra_host_info, struct_size)              \
  FIELD(lra_host_info, abi_major_min)            \
  FIELD(lra_host_info, abi_major_max)            \
  FIELD(lra_host_info, abi_minor)                \
  FIELD(lra_host_info, sanitizers)               \
  FIELD(lra_host_info, reserved)                 \
  FIELD(lra_host_info, torch_version)            \
  FIELD(lra_host_info, torch_version_size)       \
  FIELD(lra_host_info, cxx_abi)                  \
  FIELD(lra_host_info, cxx_abi_size)             \
  FIELD(lra_host_info, host_version)             \
  FIELD(lra_host_info, host_version_size)        \
  STRUCT(lra_init_args)                          \
  FIELD(lra_init_args, struct_size)              \
  FIELD(lra_init_args, reserved)                 \
  FIELD(lra_init_args, log)                      \
  FIELD(lra_init_args, log_context)              \
  STRUCT(lra_tensor_view)                        \
  FIELD(lra_tensor_view, struct_size)            \
  FIELD(lra_tensor_view, torch_type)             \
  FIELD(lra_tensor_view, torch_index)            \
  FIELD(lra_tensor_view, dtype_code)             \
  FIELD(lra_tensor_view, dtype_bits)             \
  FIELD(lra_tensor_view, dtype_lanes)            \
  FIELD(lra_tensor_view, ndim)                   \
  FIELD(lra_tensor_view, reserved)               \
  FIELD(lra_tensor_view, base)                   \
  FIELD(lra_tensor_view, byte_offset)            \
  FIELD(lra_tensor_view, shape)                  \
  FIELD(lra_tensor_view, strides)                \
  STRUCT(lra_autocast_support)                   \
  FIELD(lra_autocast_support, struct_size)       \
  FIELD(lra_autocast_support, support)           \
  FIELD(lra_autocast_support, reason)            \
  STRUCT(lra_autocast_args)                      \
  FIELD(lra_autocast_args, struct_size)          \
  FIELD(lra_autocast_args, device)               \
  FIELD(lra_autocast_args, precision)            \
  FIELD(lra_autocast_args, reserved)             \
  STRUCT(lra_unscale_args)                       \
  FIELD(lra_unscale_args, struct_size)           \
  FIELD(lra_unscale_args, device)                \
  FIELD(lra_unscale_args, stream)                \
  FIELD(lra_unscale_args, gradients)             \
  FIELD(lra_unscale_args, gradient_count)        \
  FIELD(lra_unscale_args, found_inf)             \
  FIELD(lra_unscale_args, inv_scale)             \
  STRUCT(lra_scaler_update_args)                 \
  FIELD(lra_scaler_update_args, struct_size)     \
  FIELD(lra_scaler_update_args, device)          \
  FIELD(lra_scaler_update_args, stream)          \
  FIELD(lra_scaler_update_args, scale)           \
  FIELD(lra_scaler_update_args, growth_tracker)  \
  FIELD(lra_scaler_update_args, found_inf)       \
  FIELD(lra_scaler_update_args, growth_factor)   \
  FIELD(lra_scaler_update_args, backoff_factor)  \
  FIELD(lra_scaler_update_args, growth_interval) \
  FIELD(lra_scaler_update_args, reserved)        \
  STRUCT(lra_synchronize_args)                   \
  FIELD(lra_synchronize_args, struct_size)       \
  FIELD(lra_synchronize_args, device)            \
  FIELD(lra_synchronize_args, stream)            \
  STRUCT(lra_tf32)                               \
  FIELD(lra_tf32, struct_size)                   \
  FIELD(lra_tf32, matmul)                        \
  FIELD(lra_tf32, convolution)                   \
  FIELD(lra_tf32, reserved)                      \
  STRUCT(lra_memory_stats)                       \
  FIELD(lra_memory_stats, struct_size)           \
  FIELD(lra_memory_stats, reserved)              \
  FIELD(lra_memory_stats, allocated)             \
  FIELD(lra_memory_stats, allocated_peak)        \
  FIELD(lra_memory_stats, cached)                \
  FIELD(lra_memory_stats, cached_peak)           \
  FIELD(lra_memory_stats, total)                 \
  FIELD(lra_memory_stats, free)                  \
  STRUCT(lra_api)                                \
  FIELD(lra_api, struct_size)                    \
  FIELD(lra_api, abi_major)                      \
  FIELD(lra_api, abi_minor)                      \
  FIELD(lra_api, abi_major_min)                  \
  FIELD(lra_api, abi_major_max)                  \
  FIELD(lra_api, sanitizers)                     \
  FIELD(lra_api, plugin_id)                      \
  FIELD(lra_api, plugin_version)                 \
  FIELD(lra_api, torch_version)                  \
  FIELD(lra_api, cxx_abi)                        \
  FIELD(lra_api, init)                           \
  FIELD(lra_api, shutdown)                       \
  FIELD(lra_api, device_count)                   \
  FIELD(lra_api, device_info)                    \
  FIELD(lra_api, activate_device)                \
  FIELD(lra_api, synchronize)                    \
  FIELD(lra_api, selftest)                       \
  FIELD(lra_api, autocast_query)                 \
  FIELD(lra_api, autocast_enter)                 \
  FIELD(lra_api, autocast_exit)                  \
  FIELD(lra_api, scaler_unscale)                 \
  FIELD(lra_api, scaler_update)                  \
  FIELD(lra_api, tf32_get)                       \
  FIELD(lra_api, tf32_set)                       \
  FIELD(lra_api, memory_stats)                   \
  FIELD(lra_api, seed)                           \
  FIELD(lra_api, get_extension)
