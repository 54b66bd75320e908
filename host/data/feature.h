#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/ordered_map.h"

namespace lerobot::data {

/// One entry of info.json's `features`.
struct FeatureSpec {
  std::string dtype;                ///< float32, int64, bool, ..., string, language, image or video
  std::vector<std::int64_t> shape;  ///< as declared; one row of a scalar column has shape (1)
  std::vector<std::string> names;   ///< flattened when info.json has an object; empty when null
  bool is_depth = false;

  bool is_image() const { return dtype == "image"; }
  bool is_video() const { return dtype == "video"; }
  bool is_camera() const { return is_image() || is_video(); }
  bool is_string() const { return dtype == "string"; }
  bool is_language() const { return dtype == "language"; }
  bool is_number() const { return !is_camera() && !is_string() && !is_language(); }
  /// Numbers in one row.
  std::int64_t elements() const;
  /// The shape a policy sees: (C, H, W) for cameras whichever way they are declared, else the declared shape.
  std::vector<std::int64_t> policy_shape() const;
  /// The shape of one frame in an item: () for a declared (1), policy_shape() for the rest.
  std::vector<std::int64_t> item_shape() const;
};

/// The `features` object of the file `source`. Cameras must have three axes of which `names` (or the sizes, if there
/// are no names) tell the channels. Throws Error(kData) naming the feature.
OrderedMap<FeatureSpec> parse_features(const boost::json::value& value, std::string_view source);

}  // namespace lerobot::data
