// The gradient scaler's two device operations.
#pragma once

#include <c10/core/Device.h>
#include <lerobot_accel.h>

namespace lerobot::sdk {

/// lra_api.scaler_unscale for views on `device`. Every view is checked before the first gradient changes.
void unscale_gradients(c10::Device device, const lra_unscale_args& args);

/// lra_api.scaler_update for cells on `device`.
void update_scale(c10::Device device, const lra_scaler_update_args& args);

}  // namespace lerobot::sdk
