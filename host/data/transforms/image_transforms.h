#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "host/data/transforms/transform.h"

namespace lerobot::data {

/// One entry of --dataset.image_transforms.tfs.
struct TransformChoice {
  std::string name;
  double weight = 1;  ///< 0 or less: never drawn
  std::string type;
  boost::json::object kwargs;
};

struct ImageTransformOptions {
  std::int64_t max_num_transforms = 3;
  bool random_order = false;  ///< else those drawn are applied in the order of `choices`
  std::vector<TransformChoice> choices;
};

/// LeRobot's ImageTransforms: min(entries, max_num_transforms) of them, drawn by weight without replacement.
class ImageTransforms {
 public:
  /// Throws Error(kConfig) that names the setting.
  explicit ImageTransforms(const ImageTransformOptions& options);

  /// The operations for one camera of one sample.
  std::vector<ImageOp> draw(RandomStream& random, ImageSize size) const;
  /// Of the entries that can be drawn.
  std::vector<std::string> names() const;
  /// How many are drawn each time.
  std::int64_t count() const { return static_cast<std::int64_t>(count_); }

 private:
  struct Entry {
    std::string name;
    double weight = 1;
    Transform transform;
  };

  /// Positions in entries_.
  std::vector<std::size_t> choose(RandomStream& random) const;

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  bool random_order_ = false;
};

}  // namespace lerobot::data
