#include "host/data/transforms/image_transforms.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "host/base/json.h"

namespace lerobot::data {

ImageTransforms::ImageTransforms(const ImageTransformOptions& options) : random_order_(options.random_order) {
  constexpr std::string_view kPath = "dataset.image_transforms";
  if (options.max_num_transforms < 0) {
    fail(ErrorKind::kConfig, "{}.max_num_transforms: found {}, needed 0 or more.", kPath, options.max_num_transforms);
  }
  for (const TransformChoice& choice : options.choices) {
    const std::string path = format("{}.tfs.{}", kPath, choice.name);
    if (!std::isfinite(choice.weight)) {
      fail(ErrorKind::kConfig, "{}.weight: found {}, needed a finite number.", path, json::float_repr(choice.weight));
    }
    if (choice.weight <= 0) continue;
    entries_.push_back({choice.name, choice.weight, make_transform(path, choice.type, choice.kwargs)});
  }
  count_ = std::min(entries_.size(), static_cast<std::size_t>(options.max_num_transforms));
}

std::vector<std::size_t> ImageTransforms::choose(RandomStream& random) const {
  std::vector<std::size_t> left(entries_.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<std::size_t> chosen;
  while (chosen.size() < count_) {
    double total = 0;
    for (const std::size_t i : left) total += entries_[i].weight;
    double at = random.uniform() * total;
    std::size_t place = 0;
    while (place + 1 < left.size() && at >= entries_[left[place]].weight) at -= entries_[left[place++]].weight;
    chosen.push_back(left[place]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  }
  if (!random_order_) std::ranges::sort(chosen);
  return chosen;
}

std::vector<ImageOp> ImageTransforms::draw(RandomStream& random, ImageSize size) const {
  std::vector<ImageOp> ops;
  for (const std::size_t i : choose(random)) entries_[i].transform(random, size, ops);
  return ops;
}

std::vector<std::string> ImageTransforms::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

}  // namespace lerobot::data
