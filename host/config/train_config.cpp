#include "host/config/train_config.h"

namespace lerobot::config {

OrderedMap<ImageTransform> ImageTransformsConfig::default_transforms() {
  const auto range = [](double low, double high) { return boost::json::array{low, high}; };
  return {{"brightness", {1.0, "ColorJitter", {{"brightness", range(0.8, 1.2)}}}},
          {"contrast", {1.0, "ColorJitter", {{"contrast", range(0.8, 1.2)}}}},
          {"saturation", {1.0, "ColorJitter", {{"saturation", range(0.5, 1.5)}}}},
          {"hue", {1.0, "ColorJitter", {{"hue", range(-0.05, 0.05)}}}},
          {"sharpness", {1.0, "SharpnessJitter", {{"sharpness", range(0.5, 1.5)}}}},
          {"affine", {1.0, "RandomAffine", {{"degrees", range(-5.0, 5.0)}, {"translate", range(0.05, 0.05)}}}}};
}

}  // namespace lerobot::config
