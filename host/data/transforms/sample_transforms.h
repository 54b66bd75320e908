#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/base/ordered_map.h"
#include "host/data/buffer.h"
#include "host/data/dataset.h"
#include "host/data/transforms/image_transforms.h"

namespace lerobot::data {

/// Image transforms for the colour cameras of a dataset. What a sample draws depends on seed, epoch, row and camera
/// only: neither on the number of workers nor on where a run was resumed.
class SampleTransforms {
 public:
  /// Throws Error(kData) for a camera that has neither 1 nor 3 channels.
  SampleTransforms(std::shared_ptr<const ImageTransforms> transforms, std::int64_t seed, const Dataset& dataset);

  /// Transforms the sample in `slot` of a batch that Dataset::read wrote. Thread-safe for different slots.
  void apply(const OrderedMap<Buffer>& batch, std::size_t slot, std::int64_t epoch, std::int64_t row) const;

 private:
  struct Camera {
    std::size_t tensor = 0;  ///< its place in the batch
    std::size_t bytes = 0;   ///< of one sample
    Images images;           ///< without data
  };

  std::shared_ptr<const ImageTransforms> transforms_;
  std::uint64_t seed_;
  std::vector<Camera> cameras_;
};

}  // namespace lerobot::data
