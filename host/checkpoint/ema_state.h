#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "host/base/ordered_map.h"

namespace lerobot::checkpoint {

/// The average of the weights, in the terms of `ema_state.pt`: diffusers' EMAModel.state_dict() with warm-up on.
struct EmaState {
  double decay = 0;      ///< the largest: after n updates 1 - (1 + t / inv_gamma)^-power, kept between the two
  double min_decay = 0;  ///< t = n - update_after_step - 1; 0 or less: the average is a copy
  std::int64_t optimization_step = 0;  ///< n, of the updates that landed
  std::int64_t update_after_step = 0;
  double inv_gamma = 1;
  double power = 0.75;
  /// By the parameters' names, in the policy's order. The file holds no names: read from it they are "0", "1", ...
  OrderedMap<at::Tensor> shadow;
};

}  // namespace lerobot::checkpoint
