#include "host/data/transforms/transform.h"

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <cmath>
#include <numeric>
#include <optional>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/data/transforms/arguments.h"

namespace lerobot::data {
namespace {

/// v is the range 1 - v to 1 + v, cut off at 0.
std::optional<Range> around_one(Arguments& arguments, std::string_view name) {
  return arguments.range(
      name, 0, kNoLimit, [](double v) { return std::max(1 - v, 0.0); }, [](double v) { return 1 + v; });
}

/// v is the range -v to v.
std::optional<Range> around_zero(Arguments& arguments, std::string_view name, double most) {
  return arguments.range(
      name, -most, most, [](double v) { return -v; }, [](double v) { return v; });
}

Transform identity(Arguments&) {
  return [](RandomStream&, ImageSize, std::vector<ImageOp>&) {};
}

/// Changes what has a range, in a random order.
Transform color_jitter(Arguments& arguments) {
  const auto brightness = around_one(arguments, "brightness");
  const auto contrast = around_one(arguments, "contrast");
  const auto saturation = around_one(arguments, "saturation");
  const auto hue = around_zero(arguments, "hue", 0.5);
  return [=](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    std::vector<ImageOp> drawn;
    if (brightness) drawn.emplace_back(Brightness{random.uniform(brightness->low, brightness->high)});
    if (contrast) drawn.emplace_back(Contrast{random.uniform(contrast->low, contrast->high)});
    if (saturation) drawn.emplace_back(Saturation{random.uniform(saturation->low, saturation->high)});
    if (hue) drawn.emplace_back(Hue{random.uniform(hue->low, hue->high)});
    for (std::size_t i = drawn.size(); i > 1; --i) {
      std::swap(drawn[i - 1], drawn[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
    }
    out.insert(out.end(), drawn.begin(), drawn.end());
  };
}

Transform sharpness_jitter(Arguments& arguments) {
  const auto range = around_one(arguments, "sharpness");
  if (!range) arguments.refuse("sharpness", "a number or two numbers that ascend");
  return [range = *range](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    out.emplace_back(Sharpness{random.uniform(range.low, range.high)});
  };
}

/// What RandomAffine turns, moves, scales and shears by.
struct AffineRanges {
  Range degrees;
  std::array<double, 2> translate{};  ///< of width and height
  Range scale{1, 1};
  Range shear_x, shear_y;
  float fill = 0;
};

void read_shear(Arguments& arguments, AffineRanges& ranges) {
  if (!arguments.has("shear")) {
    arguments.pair("shear", 0, 0);
    return;
  }
  const std::optional<double> one = arguments.single("shear");
  if (one) {
    ranges.shear_x = {-*one, *one};
    return;
  }
  const std::vector<double> shear = arguments.numbers("shear");
  const bool fits =
      (shear.size() == 2 || shear.size() == 4) && shear[0] <= shear[1] && (shear.size() == 2 || shear[2] <= shear[3]);
  if (!fits) arguments.refuse("shear", "one number, or two or four that ascend in pairs");
  ranges.shear_x = {shear[0], shear[1]};
  if (shear.size() == 4) ranges.shear_y = {shear[2], shear[3]};
}

AffineRanges read_affine(Arguments& arguments) {
  AffineRanges ranges;
  const auto degrees = around_zero(arguments, "degrees", kNoLimit);
  if (!degrees) arguments.refuse("degrees", "a number or two numbers that ascend");
  ranges.degrees = *degrees;
  const std::vector<double> translate = arguments.numbers("translate");
  const auto is_share = [](double v) { return v >= 0 && v <= 1; };
  if (!translate.empty()) {
    if (translate.size() != 2 || !std::ranges::all_of(translate, is_share)) {
      arguments.refuse("translate", "two numbers from 0.0 to 1.0 (of the width, of the height)");
    }
    ranges.translate = {translate[0], translate[1]};
  }
  if (const auto scale = arguments.pair("scale", 0, kNoLimit)) ranges.scale = *scale;
  if (ranges.scale.low <= 0) arguments.refuse("scale", "two numbers above 0 that ascend");
  read_shear(arguments, ranges);
  arguments.number("interpolation", 0, 0, 0);
  ranges.fill = static_cast<float>(arguments.number("fill", 0, 0, 255));
  if (arguments.has("center")) arguments.refuse("center", "null: another centre is not supported yet");
  arguments.numbers("center");
  return ranges;
}

Transform random_affine(Arguments& arguments) {
  return [ranges = read_affine(arguments)](RandomStream& random, ImageSize size, std::vector<ImageOp>& out) {
    const auto draw = [&](const Range& range) {
      return static_cast<double>(range.low == range.high ? static_cast<float>(range.low)
                                                         : random.uniform(range.low, range.high));
    };
    const auto pixels = [&](double share, std::int64_t of) {
      const double most = share * static_cast<double>(of);
      return static_cast<std::int64_t>(std::nearbyint(draw({-most, most})));
    };
    Affine op;
    op.degrees = draw(ranges.degrees);
    op.dx = pixels(ranges.translate[0], size.width);
    op.dy = pixels(ranges.translate[1], size.height);
    op.scale = draw(ranges.scale);
    op.shear_x = draw(ranges.shear_x);
    op.shear_y = draw(ranges.shear_y);
    op.fill = ranges.fill;
    out.emplace_back(op);
  };
}

/// A range that a single number v makes from 0 to v.
Transform gaussian_noise(Arguments& arguments) {
  const Range range = arguments
                          .range(
                              "std", 0, kNoLimit, [](double) { return 0.0; }, [](double v) { return v; })
                          .value_or(Range{5, 25});
  return [range](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    const float deviation = random.uniform(range.low, range.high) / 255.0F;
    out.emplace_back(GaussianNoise{.deviation = deviation, .seed = random.bits()});
  };
}

Transform motion_blur(Arguments& arguments) {
  constexpr std::int64_t kLargest = 1001;
  const auto [low, high] = arguments.whole("kernel_size", {3, 11}, 1, kLargest);
  const std::int64_t first = low + (low + 1) % 2;
  if (first > high) arguments.refuse("kernel_size", "a range with an odd number in it");
  return [first, high = high](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    const std::int64_t size = first + 2 * random.integer(0, (high - first) / 2);
    out.emplace_back(MotionBlur{.size = size, .degrees = random.uniform(0, 360)});
  };
}

Transform bright_patches(Arguments& arguments) {
  const auto [fewest, most] = arguments.whole("num_patches", {1, 4}, 1, 1000);
  const Range sigma = arguments.pair("sigma_range", 0, kNoLimit).value_or(Range{0.05, 0.25});
  if (sigma.low <= 0) arguments.refuse("sigma_range", "two numbers above 0 that ascend");
  const Range factor = arguments.pair("factor_range", 0, kNoLimit).value_or(Range{0.4, 1.6});
  return [fewest = fewest, most = most, sigma, factor](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    BrightPatches op;
    op.patches.resize(static_cast<std::size_t>(random.integer(fewest, most)));
    for (BrightPatches::Patch& patch : op.patches) {
      patch = {.y = random.uniform(0, 1),
               .x = random.uniform(0, 1),
               .sigma = random.uniform(sigma.low, sigma.high),
               .factor = random.uniform(factor.low, factor.high)};
    }
    out.emplace_back(std::move(op));
  };
}

Transform random_shadow(Arguments& arguments) {
  const auto same = [](double v) { return v; };
  const Range opacity = arguments.range("opacity", 0, 1, same, same).value_or(Range{0.3, 0.6});
  return [opacity](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    Shadow op{.opacity = random.uniform(opacity.low, opacity.high),
              .start = random.uniform(0, 1),
              .width = random.uniform(1.0 / 3, 2.0 / 3)};
    if (random.uniform() < 0.5) op.opacity = -op.opacity;
    out.emplace_back(op);
  };
}

Transform coarse_dropout(Arguments& arguments) {
  const std::int64_t most = arguments.whole("max_holes", {8, 8}, 1, 10000).high;
  const double height = arguments.number("max_height_frac", 0.07, 0, 1);
  const double width = arguments.number("max_width_frac", 0.07, 0, 1);
  if (height <= 0) arguments.refuse("max_height_frac", "a number above 0, up to 1");
  if (width <= 0) arguments.refuse("max_width_frac", "a number above 0, up to 1");
  const auto fill = static_cast<float>(arguments.number("fill_value", 0, 0, 1));
  return [=](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    Holes op{.holes = std::vector<Holes::Hole>(static_cast<std::size_t>(random.integer(1, most))), .fill = fill};
    for (Holes::Hole& hole : op.holes) {
      hole = {.height = random.uniform(0, height),
              .width = random.uniform(0, width),
              .y = random.uniform(0, 1),
              .x = random.uniform(0, 1)};
    }
    out.emplace_back(std::move(op));
  };
}

Transform gamma_correction(Arguments& arguments) {
  const Range gamma = arguments
                          .range(
                              "gamma", 0, kNoLimit, [](double v) { return std::min(v, 1 / v); },
                              [](double v) { return std::max(v, 1 / v); })
                          .value_or(Range{0.5, 2});
  if (gamma.low <= 0) arguments.refuse("gamma", "a number above 0, or two that ascend");
  return [gamma](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    const auto exponent = static_cast<double>(random.uniform(std::log(gamma.low), std::log(gamma.high)));
    out.emplace_back(Gamma{std::exp(exponent)});
  };
}

Transform planckian_jitter(Arguments& arguments) {
  const auto [low, high] = arguments.whole("temperature", {3000, 15000}, 3000, 15000);
  return [low = low, high = high](RandomStream& random, ImageSize, std::vector<ImageOp>& out) {
    out.emplace_back(ColorTemperature{random.integer(low, high)});
  };
}

struct Type {
  std::string_view name;
  Transform (*make)(Arguments&);
};
constexpr std::array<Type, 11> kTypes = {{{"Identity", identity},
                                          {"ColorJitter", color_jitter},
                                          {"SharpnessJitter", sharpness_jitter},
                                          {"RandomAffine", random_affine},
                                          {"GaussianNoise", gaussian_noise},
                                          {"MotionBlur", motion_blur},
                                          {"GaussianPatchBrightness", bright_patches},
                                          {"RandomShadow", random_shadow},
                                          {"CoarseDropout", coarse_dropout},
                                          {"GammaCorrection", gamma_correction},
                                          {"PlanckianJitter", planckian_jitter}}};

}  // namespace

Transform make_transform(std::string_view path, const std::string& type, const boost::json::object& kwargs) {
  const auto* found = std::ranges::find(kTypes, type, &Type::name);
  if (found == kTypes.end()) {
    std::vector<std::string> names;
    names.reserve(kTypes.size());
    for (const Type& known : kTypes) names.emplace_back(known.name);
    const auto near = nearest_name(type, names);
    fail(ErrorKind::kConfig, "{}.type: found {}, which is not supported{}; supported are {}.", path, type,
         near ? ", did you mean " + *near + "?" : "", join(names, ", "));
  }
  Arguments arguments(path, type, kwargs);
  Transform transform = found->make(arguments);
  arguments.finish();
  return transform;
}

}  // namespace lerobot::data
