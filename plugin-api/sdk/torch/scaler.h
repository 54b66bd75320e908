// The gradient scaler's two device operations.
#pragma once

#include <c10/core/Device.h>
#include <lerobot_accel.h>

namespace lerobot::sdk {

/// How far torch's fused scaler kernels of a device keep to the contract.
enum class ScalerKernels {
  kWhole,
  /// As MPS has them: unscale reads inv_scale in the gradient's type, so only float32 comes out right, and in some
  /// versions clears found_inf first; the update lets the scale become infinite.
  kPartial,
};

ScalerKernels scaler_kernels(c10::DeviceType type);

/// lra_api.scaler_unscale for views on `device`. Every view is checked before the first gradient changes.
void unscale_gradients(c10::Device device, const lra_unscale_args& args, ScalerKernels kernels);

/// lra_api.scaler_update for cells on `device`.
void update_scale(c10::Device device, const lra_scaler_update_args& args, ScalerKernels kernels);

}  // namespace lerobot::sdk
