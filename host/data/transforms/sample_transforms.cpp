#include "host/data/transforms/sample_transforms.h"

#include "host/base/error.h"

namespace lerobot::data {

SampleTransforms::SampleTransforms(std::shared_ptr<const ImageTransforms> transforms, std::int64_t seed,
                                   const Dataset& dataset)
    : transforms_(std::move(transforms)), seed_(static_cast<std::uint64_t>(seed)) {
  const std::vector<TensorSpec>& layout = dataset.layout();
  for (const std::string& key : dataset.metadata().color_camera_keys()) {
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const TensorSpec& spec = layout[i];
      if (spec.key != key) continue;
      const auto axis = [&](std::size_t from_end) { return spec.shape[spec.shape.size() - from_end]; };
      Images images{.dtype = spec.dtype, .channels = axis(3), .height = axis(2), .width = axis(1)};
      if (spec.shape.size() == 4) images.frames = spec.shape.front();
      if (images.channels != 1 && images.channels != 3) {
        fail(ErrorKind::kData,
             "camera {} has {} channels, and image transforms need 1 or 3. Leave out "
             "--dataset.image_transforms.enable.",
             key, images.channels);
      }
      cameras_.push_back({i, spec.bytes, images});
    }
  }
}

void SampleTransforms::apply(const OrderedMap<Buffer>& batch, std::size_t slot, std::int64_t epoch,
                             std::int64_t row) const {
  for (std::size_t camera = 0; camera < cameras_.size(); ++camera) {
    const Camera& own = cameras_[camera];
    RandomStream random{seed_, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(row), camera};
    Images images = own.images;
    const Buffer& tensor = batch.begin()[static_cast<std::ptrdiff_t>(own.tensor)].second;
    images.data = tensor.data.get() + slot * own.bytes;
    for (const ImageOp& op : transforms_->draw(random, {images.height, images.width})) data::apply(op, images);
  }
}

}  // namespace lerobot::data
