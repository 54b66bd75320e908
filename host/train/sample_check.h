#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/data/dataset.h"

namespace lerobot::train {

/// Loads samples again and says, in sentences for a message, which they are and which of their features holds a value
/// that is not finite, or that none does.
std::string examine_samples(const data::Dataset& dataset, const std::vector<std::int64_t>& rows);

}  // namespace lerobot::train
