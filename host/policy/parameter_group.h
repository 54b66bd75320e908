#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lerobot::policy {

/// Parameters that an optimizer treats alike, in the order of their indices in the optimizer's state.
struct ParameterGroup {
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  std::optional<double> lr;  // nothing: the optimizer's own
};

}  // namespace lerobot::policy
