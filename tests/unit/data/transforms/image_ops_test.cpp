// Each operation against torchvision's and LeRobot's results (tests/data/goldens/make_transforms.py).
#include "host/data/transforms/image_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "host/base/json.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

const std::filesystem::path kGoldens = LEROBOT_TEST_DATA "/goldens";

/// A copy of a golden input that an operation may change.
struct Picture {
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
  Images images;
};

Picture picture(const TensorView& input, bool as_floats) {
  Picture out;
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(input.data);
  out.bytes.assign(pixels, pixels + input.elements());
  for (const std::uint8_t byte : out.bytes) out.floats.push_back(static_cast<float>(byte) / 255.0F);
  const auto axis = [&](std::size_t from_end) { return input.shape[input.shape.size() - from_end]; };
  out.images = {.dtype = as_floats ? DType::kFloat32 : DType::kUInt8,
                .frames = input.shape.size() == 4 ? input.shape.front() : 1,
                .channels = axis(3),
                .height = axis(2),
                .width = axis(1)};
  return out;
}

void change_picture(const ImageOp& op, Picture& picture) {
  const bool floats = picture.images.dtype == DType::kFloat32;
  picture.images.data =
      floats ? reinterpret_cast<std::byte*>(picture.floats.data()) : reinterpret_cast<std::byte*>(picture.bytes.data());
  data::apply(op, picture.images);
}

double number(const bj::object& params, std::string_view name, double fallback) {
  const bj::value* value = params.if_contains(name);
  return value == nullptr ? fallback : value->to_number<double>();
}

float single(const bj::object& params, std::string_view name) {
  return static_cast<float>(params.at(name).to_number<double>());
}

float entry(const bj::object& params, std::string_view name, std::size_t i) {
  return static_cast<float>(params.at(name).as_array().at(i).to_number<double>());
}
float entry(const bj::object& params, std::string_view name, std::size_t i, std::size_t j) {
  return static_cast<float>(params.at(name).as_array().at(i).as_array().at(j).to_number<double>());
}

Affine affine(const bj::object& params) {
  return {.degrees = number(params, "degrees", 0),
          .dx = static_cast<std::int64_t>(number(params, "dx", 0)),
          .dy = static_cast<std::int64_t>(number(params, "dy", 0)),
          .scale = number(params, "scale", 1),
          .shear_x = number(params, "shear_x", 0),
          .shear_y = number(params, "shear_y", 0),
          .fill = static_cast<float>(number(params, "fill", 0))};
}

ImageOp patches(const bj::object& params) {
  BrightPatches op;
  for (std::size_t i = 0; i < params.at("sigmas").as_array().size(); ++i) {
    op.patches.push_back({.y = entry(params, "centers", i, 0),
                          .x = entry(params, "centers", i, 1),
                          .sigma = entry(params, "sigmas", i),
                          .factor = entry(params, "factors", i)});
  }
  return op;
}

ImageOp holes(const bj::object& params) {
  Holes op{.holes = {}, .fill = single(params, "fill")};
  for (std::size_t i = 0; i < params.at("sizes").as_array().size(); ++i) {
    op.holes.push_back({.height = entry(params, "sizes", i, 0),
                        .width = entry(params, "sizes", i, 1),
                        .y = entry(params, "positions", i, 0),
                        .x = entry(params, "positions", i, 1)});
  }
  return op;
}

ImageOp operation(std::string_view name, const bj::object& params) {
  if (name == "brightness") return Brightness{single(params, "factor")};
  if (name == "contrast") return Contrast{single(params, "factor")};
  if (name == "saturation") return Saturation{single(params, "factor")};
  if (name == "hue") return Hue{single(params, "shift")};
  if (name == "sharpness") return Sharpness{single(params, "factor")};
  if (name == "affine") return affine(params);
  if (name == "motion_blur") {
    return MotionBlur{.size = params.at("kernel_size").to_number<std::int64_t>(), .degrees = single(params, "angle")};
  }
  if (name == "patches") return patches(params);
  if (name == "shadow") {
    return Shadow{.opacity = single(params, "opacity") * single(params, "direction"),
                  .start = single(params, "start"),
                  .width = single(params, "width")};
  }
  if (name == "holes") return holes(params);
  if (name == "gamma") return Gamma{params.at("gamma").to_number<double>()};
  if (name == "temperature") return ColorTemperature{params.at("temperature").to_number<std::int64_t>()};
  throw std::runtime_error("no operation " + std::string(name));
}

struct Goldens {
  SafetensorsFile tensors{kGoldens / "transforms.safetensors", ErrorKind::kIo};
  bj::value description = json::read_file(kGoldens / "transforms.json", ErrorKind::kIo);

  /// Calls `visit(key, input, expected, operation)` for the cases of a kind.
  template <class Visit>
  int for_each(std::string_view kind, const Visit& visit) const {
    int count = 0;
    for (const bj::value& value : description.as_object().at("cases").as_array()) {
      const bj::object& one = value.as_object();
      if (one.at("kind").as_string() != kind) continue;
      const std::string key(one.at("key").as_string());
      visit(key, tensors.at(one.at("input").as_string().c_str()), tensors.at(key),
            operation(one.at("operation").as_string(), one.at("params").as_object()));
      ++count;
    }
    return count;
  }
};

TEST(ImageOps, OfBytesGiveTheBytesOfTorchvision) {
  const Goldens goldens;
  const int cases = goldens.for_each(
      "u8", [](const std::string& key, const TensorView& input, const TensorView& expected, const ImageOp& op) {
        Picture own = picture(input, /*as_floats=*/false);
        change_picture(op, own);
        ASSERT_EQ(own.bytes.size(), expected.bytes) << key;
        int different = 0;
        for (std::size_t i = 0; i < own.bytes.size(); ++i) {
          different += own.bytes[i] != static_cast<std::uint8_t>(expected.data[i]);
        }
        EXPECT_EQ(different, 0) << key;
          });
  EXPECT_EQ(cases, 28);
}

TEST(ImageOps, OfFloatsAreWithinTwoMillionths) {
  const Goldens goldens;
  const int cases = goldens.for_each(
      "f32", [](const std::string& key, const TensorView& input, const TensorView& expected, const ImageOp& op) {
        Picture own = picture(input, /*as_floats=*/true);
        change_picture(op, own);
        ASSERT_EQ(own.floats.size() * sizeof(float), expected.bytes) << key;
        const auto* values = reinterpret_cast<const float*>(expected.data);
        float worst = 0;
        for (std::size_t i = 0; i < own.floats.size(); ++i)
          worst = std::max(worst, std::abs(own.floats[i] - values[i]));
        EXPECT_LT(worst, 2e-6F) << key;
      });
  EXPECT_EQ(cases, 46);
}

TEST(ImageOps, OfBytesGiveTheSumsThatSeedFiveDraws) {
  const Goldens goldens;
  const bj::object& drawn = goldens.description.as_object().at("seed_5").as_object();
  const auto sum_after = [&](const ImageOp& op) {
    Picture own = picture(goldens.tensors.at("input.ramp"), /*as_floats=*/false);
    change_picture(op, own);
    return std::accumulate(own.bytes.begin(), own.bytes.end(), 0);
  };
  const auto param = [&](std::string_view name, std::string_view key) {
    return single(drawn.at(name).as_object().at("params").as_object(), key);
  };
  EXPECT_EQ(sum_after(Brightness{param("brightness", "brightness_factor")}), 32731);
  EXPECT_EQ(sum_after(Contrast{param("contrast", "contrast_factor")}), 29411);
  EXPECT_EQ(sum_after(Saturation{param("saturation", "saturation_factor")}), 29604);
  EXPECT_EQ(sum_after(Hue{param("hue", "hue_factor")}), 27411);
  EXPECT_EQ(sum_after(Sharpness{param("sharpness", "sharpness_factor")}), 29676);
  EXPECT_EQ(sum_after(Affine{.degrees = static_cast<double>(param("affine", "angle"))}), 29496);
}

TEST(ImageOps, OfLeRobotsOwnLeaveBytesAsTheyAre) {
  const Goldens goldens;
  const TensorView& input = goldens.tensors.at("input.noise");
  for (const ImageOp& op : std::vector<ImageOp>{GaussianNoise{0.1F, 3}, MotionBlur{5, 20},
                                                BrightPatches{{{0.5F, 0.5F, 0.2F, 1.5F}}}, Shadow{0.5F, 0.2F, 0.5F},
                                                Holes{{{0.5F, 0.5F, 0, 0}}, 0}, Gamma{0.5}, ColorTemperature{4000}}) {
    Picture own = picture(input, /*as_floats=*/false);
    change_picture(op, own);
    EXPECT_EQ(std::memcmp(own.bytes.data(), input.data, input.bytes), 0) << "operation " << op.index();
  }
}

TEST(ImageOps, NoiseHasTheDeviationAskedForAndIsTheSameForTheSameSeed) {
  const auto noisy = [](std::uint64_t seed) {
    std::vector<float> pixels(static_cast<std::size_t>(100 * 300), 0.5F);
    data::apply(GaussianNoise{0.05F, seed}, {.dtype = DType::kFloat32,
                                       .channels = 1,
                                       .height = 100,
                                       .width = 300,
                                       .data = reinterpret_cast<std::byte*>(pixels.data())});
    return pixels;
  };
  const std::vector<float> pixels = noisy(7);
  EXPECT_EQ(pixels, noisy(7));
  EXPECT_NE(pixels, noisy(8));
  double sum = 0, squares = 0;
  for (const float pixel : pixels) {
    const double off = static_cast<double>(pixel) - 0.5;
    sum += off;
    squares += off * off;
  }
  const auto n = static_cast<double>(pixels.size());
  EXPECT_NEAR(sum / n, 0, 0.05 * 4 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), 0.05, 0.05 * 4 / std::sqrt(2 * n));
}

TEST(ImageOps, OfOneChannelChangeBrightnessAndLeaveColours) {
  std::vector<std::uint8_t> grey{10, 20, 30, 40, 50, 60};
  const Images images{.channels = 1, .height = 2, .width = 3, .data = reinterpret_cast<std::byte*>(grey.data())};
  data::apply(Saturation{0.5F}, images);
  data::apply(Hue{0.3F}, images);
  EXPECT_EQ(grey, (std::vector<std::uint8_t>{10, 20, 30, 40, 50, 60}));
  data::apply(Sharpness{0.5F}, images);
  EXPECT_EQ(grey, (std::vector<std::uint8_t>{10, 20, 30, 40, 50, 60})) << "two rows have no inside";
  data::apply(Brightness{2}, images);
  EXPECT_EQ(grey, (std::vector<std::uint8_t>{20, 40, 60, 80, 100, 120}));
  data::apply(Contrast{0}, images);
  EXPECT_EQ(grey, (std::vector<std::uint8_t>{70, 70, 70, 70, 70, 70}));
}

}  // namespace
}  // namespace lerobot::data
