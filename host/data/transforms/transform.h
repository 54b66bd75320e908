#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/data/transforms/image_ops.h"
#include "host/data/transforms/random_stream.h"

namespace lerobot::data {

struct ImageSize {
  std::int64_t height = 0, width = 0;
};

/// One transform with its ranges: draws parameters and appends the operations that they make.
using Transform = std::function<void(RandomStream&, ImageSize, std::vector<ImageOp>&)>;

/// The transform of a type (torchvision.transforms.v2's name or LeRobot's own) with keyword arguments. `path` is the
/// setting's, for messages. Throws Error(kConfig) for a type or an argument that is not supported, by name, and for
/// values out of range.
Transform make_transform(std::string_view path, const std::string& type, const boost::json::object& kwargs);

}  // namespace lerobot::data
