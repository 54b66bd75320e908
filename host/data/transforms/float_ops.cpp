// LeRobot's own transforms, which leave bytes as they are.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "host/data/transforms/image_ops.h"
#include "host/data/transforms/random_stream.h"

namespace lerobot::data {
namespace {

bool has_floats(const Images& images) {
  return images.dtype == DType::kFloat32;
}

float unit(float value) {
  return std::min(std::max(value, 0.0F), 1.0F);
}

template <class Visit>
void for_each_plane(const Images& images, const Visit& visit) {
  auto* plane = reinterpret_cast<float*>(images.data);
  for (std::int64_t i = 0; i < images.planes(); ++i, plane += images.plane()) visit(plane);
}

void multiply(const Images& images, const std::vector<float>& mask) {
  for_each_plane(images, [&](float* plane) {
    for (std::size_t i = 0; i < mask.size(); ++i) plane[i] = unit(plane[i] * mask[i]);
  });
}

/// Whole pixels of a share of `size`, rounded as Python does.
std::int64_t rounded(double share_of_size) {
  return std::llrint(share_of_size);
}

/// Pairs of normal numbers (Box and Muller).
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_({seed}) {}

  float next() {
    if (spare_) return *std::exchange(spare_, std::nullopt);
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    const double angle = 2 * std::numbers::pi * random_.uniform();
    spare_ = static_cast<float>(radius * std::sin(angle));
    return static_cast<float>(radius * std::cos(angle));
  }

 private:
  RandomStream random_;
  std::optional<float> spare_;
};

/// The places of a line's pixels, relative to its centre.
std::vector<std::pair<std::int64_t, std::int64_t>> line(const MotionBlur& op) {
  const double angle = static_cast<double>(op.degrees) * std::numbers::pi / 180;
  const auto along_x = static_cast<float>(std::cos(angle)), along_y = static_cast<float>(std::sin(angle));
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t i = -(op.size / 2); i <= op.size / 2; ++i) {
    const auto at = static_cast<float>(i);
    places.emplace_back(std::llrint(at * along_y), std::llrint(at * along_x));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// The band before its edges are softened.
std::vector<float> shadow_band(const Shadow& op, std::int64_t height, std::int64_t width) {
  const std::int64_t band =
      std::clamp(rounded(static_cast<double>(op.width) * static_cast<double>(width)), std::int64_t{1}, width);
  const std::int64_t begin = rounded(static_cast<double>(op.start) * static_cast<double>(width - band));
  std::vector<float> mask(static_cast<std::size_t>(height * width), 1.0F);
  for (std::int64_t y = 0; y < height; ++y) {
    std::fill_n(mask.begin() + y * width + begin, band, static_cast<float>(1.0 + static_cast<double>(op.opacity)));
  }
  return mask;
}

/// Means over blocks of `size` by `size`.
std::vector<float> shrunk(const std::vector<float>& mask, std::int64_t height, std::int64_t width, std::int64_t size) {
  std::vector<float> small;
  for (std::int64_t y = 0; y + size <= height; y += size) {
    for (std::int64_t x = 0; x + size <= width; x += size) {
      float sum = 0;
      for (std::int64_t i = 0; i < size * size; ++i) {
        sum += mask[static_cast<std::size_t>((y + i / size) * width + x + i % size)];
      }
      small.push_back(sum / static_cast<float>(size * size));
    }
  }
  return small;
}

/// Where a pixel of the large image lies between two of the small one.
struct Between {
  std::int64_t low, high;
  float share;  ///< of `high`
};

Between between(std::int64_t at, std::int64_t small, std::int64_t large) {
  const float step = static_cast<float>(small) / static_cast<float>(large);
  const float place = std::max(step * (static_cast<float>(at) + 0.5F) - 0.5F, 0.0F);
  const auto low = std::min(static_cast<std::int64_t>(place), small - 1);
  return {low, std::min(low + 1, small - 1), std::min(place - static_cast<float>(low), 1.0F)};
}

/// Linear interpolation, corners not aligned.
std::vector<float> enlarged(const std::vector<float>& small, std::int64_t rows, std::int64_t columns,
                            std::int64_t height, std::int64_t width) {
  std::vector<float> large;
  large.reserve(static_cast<std::size_t>(height * width));
  for (std::int64_t y = 0; y < height; ++y) {
    const Between v = between(y, rows, height);
    for (std::int64_t x = 0; x < width; ++x) {
      const Between h = between(x, columns, width);
      const auto at = [&](std::int64_t row, std::int64_t column) {
        return small[static_cast<std::size_t>(row * columns + column)];
      };
      const float above = at(v.low, h.low) * (1 - h.share) + at(v.low, h.high) * h.share;
      const float below = at(v.high, h.low) * (1 - h.share) + at(v.high, h.high) * h.share;
      large.push_back(above * (1 - v.share) + below * v.share);
    }
  }
  return large;
}

/// Red, green and blue of a black body from 3000 K on, every 500 K (Zini et al. 2022, "Planckian Jitter").
constexpr std::array<std::array<float, 3>, 25> kBlackBody = {
    {{0.6743F, 0.4029F, 0.0013F}, {0.6281F, 0.4241F, 0.1665F}, {0.5919F, 0.4372F, 0.2513F}, {0.5623F, 0.4457F, 0.3154F},
     {0.5376F, 0.4515F, 0.3672F}, {0.5163F, 0.4555F, 0.4103F}, {0.4979F, 0.4584F, 0.4468F}, {0.4816F, 0.4604F, 0.4782F},
     {0.4672F, 0.4619F, 0.5053F}, {0.4542F, 0.4630F, 0.5289F}, {0.4426F, 0.4638F, 0.5497F}, {0.4320F, 0.4644F, 0.5681F},
     {0.4223F, 0.4648F, 0.5844F}, {0.4135F, 0.4651F, 0.5990F}, {0.4054F, 0.4653F, 0.6121F}, {0.3980F, 0.4654F, 0.6239F},
     {0.3911F, 0.4655F, 0.6346F}, {0.3847F, 0.4656F, 0.6444F}, {0.3787F, 0.4656F, 0.6532F}, {0.3732F, 0.4656F, 0.6613F},
     {0.3680F, 0.4655F, 0.6688F}, {0.3632F, 0.4655F, 0.6756F}, {0.3586F, 0.4655F, 0.6820F}, {0.3544F, 0.4654F, 0.6878F},
     {0.3503F, 0.4653F, 0.6933F}}};
constexpr std::int64_t kFirstKelvin = 3000, kKelvinStep = 500;

/// What a channel is multiplied by; green stays.
float temperature_factor(std::int64_t kelvin, std::size_t channel) {
  const std::int64_t above = kelvin - kFirstKelvin;
  const auto left = static_cast<std::size_t>(above / kKelvinStep);
  const std::size_t right = std::min(left + 1, kBlackBody.size() - 1);
  const float share = static_cast<float>(above % kKelvinStep) / static_cast<float>(kKelvinStep);
  const auto coefficient = [&](std::size_t c) { return std::lerp(kBlackBody[left][c], kBlackBody[right][c], share); };
  return channel == 1 ? 1.0F : coefficient(channel) / coefficient(1);
}

}  // namespace

void change(const GaussianNoise& op, const Images& images) {
  if (!has_floats(images)) return;
  Normal normal(op.seed);
  for_each_plane(images, [&](float* plane) {
    for (std::int64_t i = 0; i < images.plane(); ++i) plane[i] = unit(plane[i] + normal.next() * op.deviation);
  });
}

void change(const MotionBlur& op, const Images& images) {
  if (!has_floats(images)) return;
  const auto places = line(op);
  const float share = 1.0F / static_cast<float>(places.size());
  std::vector<float> before;
  for_each_plane(images, [&](float* plane) {
    before.assign(plane, plane + images.plane());
    std::fill_n(plane, images.plane(), 0.0F);
    for (const auto& [dy, dx] : places) {
      for (std::int64_t y = 0; y < images.height; ++y) {
        const float* row = before.data() + std::clamp(y + dy, std::int64_t{0}, images.height - 1) * images.width;
        float* out = plane + y * images.width;
        for (std::int64_t x = 0; x < images.width; ++x) {
          out[x] += share * row[std::clamp(x + dx, std::int64_t{0}, images.width - 1)];
        }
      }
    }
    for (std::int64_t i = 0; i < images.plane(); ++i) plane[i] = unit(plane[i]);
  });
}

void change(const BrightPatches& op, const Images& images) {
  if (!has_floats(images)) return;
  std::vector<float> mask(static_cast<std::size_t>(images.plane()), 1.0F);
  const auto place = [](std::int64_t at, std::int64_t size) {
    return size == 1 ? 0.0F : static_cast<float>(at) / static_cast<float>(size - 1);
  };
  for (const BrightPatches::Patch& patch : op.patches) {
    const float spread = 2 * patch.sigma * patch.sigma;
    std::size_t i = 0;
    for (std::int64_t y = 0; y < images.height; ++y) {
      const float dy = place(y, images.height) - patch.y;
      for (std::int64_t x = 0; x < images.width; ++x, ++i) {
        const float dx = place(x, images.width) - patch.x;
        mask[i] *= 1.0F + (patch.factor - 1.0F) * std::exp(-(dy * dy + dx * dx) / spread);
      }
    }
  }
  multiply(images, mask);
}

void change(const Shadow& op, const Images& images) {
  if (!has_floats(images)) return;
  const std::int64_t height = images.height, width = images.width;
  std::vector<float> mask = shadow_band(op, height, width);
  const std::int64_t size = std::min({std::int64_t{8}, height, width});
  if (size > 1) mask = enlarged(shrunk(mask, height, width, size), height / size, width / size, height, width);
  multiply(images, mask);
}

void change(const Holes& op, const Images& images) {
  if (!has_floats(images)) return;
  const auto pixels = [](float share, std::int64_t size) {
    return std::clamp(rounded(static_cast<double>(share) * static_cast<double>(size)), std::int64_t{1}, size);
  };
  for (const Holes::Hole& hole : op.holes) {
    const std::int64_t height = pixels(hole.height, images.height), width = pixels(hole.width, images.width);
    const std::int64_t y = rounded(static_cast<double>(hole.y) * static_cast<double>(images.height - height));
    const std::int64_t x = rounded(static_cast<double>(hole.x) * static_cast<double>(images.width - width));
    for_each_plane(images, [&](float* plane) {
      for (std::int64_t row = y; row < y + height; ++row) std::fill_n(plane + row * images.width + x, width, op.fill);
    });
  }
}

void change(const Gamma& op, const Images& images) {
  if (!has_floats(images)) return;
  const auto gamma = static_cast<float>(op.gamma);
  for_each_plane(images, [&](float* plane) {
    for (std::int64_t i = 0; i < images.plane(); ++i) plane[i] = unit(std::pow(plane[i], gamma));
  });
}

void change(const ColorTemperature& op, const Images& images) {
  if (!has_floats(images) || images.channels != 3) return;
  std::int64_t number = 0;
  for_each_plane(images, [&](float* plane) {
    const float factor = temperature_factor(op.kelvin, static_cast<std::size_t>(number++ % 3));
    for (std::int64_t i = 0; i < images.plane(); ++i) plane[i] = unit(plane[i] * factor);
  });
}

}  // namespace lerobot::data
