#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "host/base/ordered_map.h"
#include "host/data/loader.h"
#include "host/policy/policy.h"

namespace lerobot::train {

/// The policy's name of a dataset key: what `rename_map` says, for its padding mask too, else the key itself.
std::string renamed(const std::string& key, const OrderedMap<std::string>& rename_map);

/// Whether policies can use a tensor of this name (after renaming): observations and actions.
bool is_for_policies(const std::string& key);

/// The observations and actions of a batch as tensors on `device`, without a copy where the device is the CPU (each
/// tensor keeps its buffer alive). Camera frames of 8 bits become float32 in [0, 1], float64 columns float32 (not every
/// device has float64); keys are renamed by `rename_map` (dataset key -> policy key), their padding masks with them.
policy::Batch to_tensors(const data::Batch& batch, const at::Device& device, const OrderedMap<std::string>& rename_map);

}  // namespace lerobot::train
