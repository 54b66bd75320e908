// What transforms draw, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/transforms/image_transforms.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr ImageSize kSize{.height = 100, .width = 200};

boost::json::object object(const std::string& text) {
  return json::parse(text, "kwargs", ErrorKind::kConfig).as_object();
}

/// The six of LeRobot.
ImageTransformOptions defaults() {
  ImageTransformOptions options;
  options.choices = {{"brightness", 1, "ColorJitter", object(R"({"brightness": [0.8, 1.2]})")},
                     {"contrast", 1, "ColorJitter", object(R"({"contrast": [0.8, 1.2]})")},
                     {"saturation", 1, "ColorJitter", object(R"({"saturation": [0.5, 1.5]})")},
                     {"hue", 1, "ColorJitter", object(R"({"hue": [-0.05, 0.05]})")},
                     {"sharpness", 1, "SharpnessJitter", object(R"({"sharpness": [0.5, 1.5]})")},
                     {"affine", 1, "RandomAffine", object(R"({"degrees": [-5, 5], "translate": [0.05, 0.05]})")}};
  return options;
}

std::vector<ImageOp> drawn(const ImageTransforms& transforms, std::uint64_t key) {
  RandomStream random{key};
  return transforms.draw(random, kSize);
}

/// Draws of one transform alone.
std::vector<ImageOp> draws_of(const std::string& type, const std::string& kwargs, std::uint64_t count) {
  const Transform transform = make_transform("tfs.x", type, object(kwargs));
  std::vector<ImageOp> ops;
  for (std::uint64_t key = 0; key < count; ++key) {
    RandomStream random{key};
    transform(random, kSize, ops);
  }
  return ops;
}

/// Mean and ends of drawn numbers against a uniform distribution.
void expect_uniform(const std::vector<double>& values, double low, double high) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    EXPECT_GE(value, low);
    EXPECT_LE(value, high);
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(values.size());
  const double deviation = (high - low) / std::sqrt(12.0);
  EXPECT_NEAR(sum / n, (low + high) / 2, 4 * deviation / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * sum / n), deviation, 0.05 * deviation);
}

std::string refusal(const ImageTransformOptions& options) {
  try {
    const ImageTransforms transforms(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfig);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

std::string refusal(const std::string& type, const std::string& kwargs) {
  ImageTransformOptions options;
  options.choices = {{"mine", 1, type, object(kwargs)}};
  return refusal(options);
}

TEST(ImageTransforms, DrawThreeOfSixInTheirOrderEachAsOftenAsTheOthers) {
  const ImageTransforms transforms(defaults());
  std::map<std::size_t, int> count;
  constexpr int kDraws = 3000;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<ImageOp> ops = drawn(transforms, static_cast<std::uint64_t>(i));
    ASSERT_EQ(ops.size(), 3U);
    for (std::size_t j = 0; j < 3; ++j) {
      ++count[ops[j].index()];
      if (j > 0) {
        EXPECT_LT(ops[j - 1].index(), ops[j].index());
      }
    }
  }
  ASSERT_EQ(count.size(), 6U);
  for (const auto& [op, times] : count) EXPECT_NEAR(times, kDraws / 2, 4 * std::sqrt(kDraws / 4)) << op;
}

TEST(ImageTransforms, WeightsSayHowOftenOneIsDrawnAndZeroNever) {
  ImageTransformOptions options = defaults();
  options.max_num_transforms = 1;
  options.choices.resize(3);
  options.choices[0].weight = 3;
  options.choices[2].weight = 0;
  options.choices[2].type = "NotEvenLookedAt";
  const ImageTransforms transforms(options);
  EXPECT_THAT(transforms.names(), testing::ElementsAre("brightness", "contrast"));
  int first = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) first += std::holds_alternative<Brightness>(drawn(transforms, i).front());
  EXPECT_NEAR(first, 3000, 4 * std::sqrt(4000 * 0.75 * 0.25));
}

TEST(ImageTransforms, ARandomOrderHasEachOrderAsOften) {
  ImageTransformOptions options = defaults();
  options.choices.resize(3);
  options.random_order = true;
  const ImageTransforms transforms(options);
  std::map<std::vector<std::size_t>, int> orders;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::vector<std::size_t> order;
    for (const ImageOp& op : drawn(transforms, i)) order.push_back(op.index());
    ++orders[order];
  }
  ASSERT_EQ(orders.size(), 6U);
  for (const auto& [order, times] : orders) EXPECT_NEAR(times, 500, 4 * std::sqrt(500.0));
}

TEST(ImageTransforms, NoneAreDrawnWhenThereAreNoneOrNoneAreWanted) {
  ImageTransformOptions options = defaults();
  options.max_num_transforms = 0;
  EXPECT_TRUE(drawn(ImageTransforms(options), 1).empty());
  EXPECT_TRUE(drawn(ImageTransforms(ImageTransformOptions{}), 1).empty());
  options.max_num_transforms = 100;
  EXPECT_EQ(drawn(ImageTransforms(options), 1).size(), 6U);
}

TEST(Transform, ParametersAreUniformInTheirRanges) {
  std::vector<double> brightness, hue, sharpness, degrees, dx, dy;
  constexpr std::uint64_t kDraws = 4000;
  for (const ImageOp& op : draws_of("ColorJitter", R"({"brightness": 0.2})", kDraws)) {
    brightness.push_back(static_cast<double>(std::get<Brightness>(op).factor));
  }
  expect_uniform(brightness, 0.8, 1.2000001);
  for (const ImageOp& op : draws_of("ColorJitter", R"({"hue": 0.1})", kDraws)) {
    hue.push_back(static_cast<double>(std::get<Hue>(op).shift));
  }
  expect_uniform(hue, -0.10000001, 0.1);
  for (const ImageOp& op : draws_of("SharpnessJitter", R"({"sharpness": [0.5, 1.5]})", kDraws)) {
    sharpness.push_back(static_cast<double>(std::get<Sharpness>(op).factor));
  }
  expect_uniform(sharpness, 0.5, 1.5);
  for (const ImageOp& op : draws_of("RandomAffine", R"({"degrees": 5, "translate": [0.05, 0.1]})", kDraws)) {
    degrees.push_back(std::get<Affine>(op).degrees);
    dx.push_back(static_cast<double>(std::get<Affine>(op).dx));
    dy.push_back(static_cast<double>(std::get<Affine>(op).dy));
  }
  expect_uniform(degrees, -5, 5);
  expect_uniform(dx, -10, 10);
  expect_uniform(dy, -10, 10);
}

TEST(Transform, ColorJitterAppliesAllItHasInAnyOrder) {
  const std::vector<ImageOp> ops =
      draws_of("ColorJitter", R"({"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "hue": 0.1})", 200);
  ASSERT_EQ(ops.size(), 800U);
  std::map<std::size_t, int> first;
  for (std::size_t i = 0; i < ops.size(); i += 4) ++first[ops[i].index()];
  EXPECT_EQ(first.size(), 4U);
  for (const auto& [op, times] : first) EXPECT_NEAR(times, 50, 4 * std::sqrt(50.0)) << op;
}

TEST(Transform, LeRobotsOwnDrawWhatTheirArgumentsAllow) {
  for (const ImageOp& op : draws_of("MotionBlur", R"({"kernel_size": [4, 8]})", 50)) {
    EXPECT_THAT(std::get<MotionBlur>(op).size, testing::AnyOf(5, 7));
  }
  std::map<std::size_t, int> patches, holes;
  for (const ImageOp& op : draws_of("GaussianPatchBrightness", "{}", 200))
    ++patches[std::get<BrightPatches>(op).patches.size()];
  for (const ImageOp& op : draws_of("CoarseDropout", R"({"max_holes": 3})", 200))
    ++holes[std::get<Holes>(op).holes.size()];
  EXPECT_EQ(patches.size(), 4U);
  EXPECT_EQ(holes.size(), 3U);
  std::vector<double> logarithms;
  for (const ImageOp& op : draws_of("GammaCorrection", "{}", 4000)) {
    logarithms.push_back(std::log(std::get<Gamma>(op).gamma));
  }
  expect_uniform(logarithms, std::log(0.5) - 1e-6, std::log(2.0) + 1e-6);
  int darker = 0;
  for (const ImageOp& op : draws_of("RandomShadow", "{}", 400)) darker += std::get<Shadow>(op).opacity < 0;
  EXPECT_NEAR(darker, 200, 40);
  for (const ImageOp& op : draws_of("PlanckianJitter", R"({"temperature": 5000})", 3)) {
    EXPECT_EQ(std::get<ColorTemperature>(op).kelvin, 5000);
  }
  EXPECT_TRUE(draws_of("Identity", "{}", 3).empty());
}

TEST(Transform, TypesThatAreNotSupportedAreRefusedByName) {
  EXPECT_THAT(refusal("GaussianBlur", R"({"kernel_size": 3})"),
              AllOf(StartsWith("dataset.image_transforms.tfs.mine.type: found GaussianBlur, which is not supported"),
                    HasSubstr("ColorJitter"), HasSubstr("PlanckianJitter")));
  EXPECT_THAT(refusal("JPEGCompression", "{}"), HasSubstr("found JPEGCompression, which is not supported"));
  EXPECT_THAT(refusal("ColourJitter", "{}"), HasSubstr("did you mean ColorJitter?"));
}

TEST(Transform, ArgumentsThatDoNotFitAreRefusedByName) {
  const std::string path = "dataset.image_transforms.tfs.mine.kwargs.";
  EXPECT_THAT(refusal("ColorJitter", R"({"hue": [-0.6, 0.1]})"),
              StartsWith(path + "hue: found [-0.6,0.1], needed a range that ascends, from -0.5 to 0.5"));
  EXPECT_THAT(refusal("ColorJitter", R"({"hue": 0.6})"), StartsWith(path + "hue: found 0.6"));
  EXPECT_THAT(refusal("ColorJitter", R"({"contrast": [1.2, 0.8]})"), StartsWith(path + "contrast: found [1.2,0.8]"));
  EXPECT_THAT(refusal("ColorJitter", R"({"contrast": -1})"), HasSubstr("needed 0 or more"));
  EXPECT_THAT(refusal("ColorJitter", R"({"contrast": "much"})"), HasSubstr("needed a list of numbers"));
  EXPECT_THAT(refusal("ColorJitter", R"({"contrast": [1, 2, 3]})"), HasSubstr("needed two numbers that ascend"));
  EXPECT_THAT(refusal("ColorJitter", R"({"brightnes": 0.1})"),
              AllOf(StartsWith(path + "brightnes: ColorJitter has no such argument"), HasSubstr("mean brightness?")));
  EXPECT_THAT(refusal("SharpnessJitter", "{}"), StartsWith(path + "sharpness: found nothing"));
  EXPECT_THAT(refusal("RandomAffine", R"({"translate": [0, 0]})"), StartsWith(path + "degrees: found nothing"));
  EXPECT_THAT(refusal("RandomAffine", R"({"degrees": 5, "translate": [0, 2]})"), StartsWith(path + "translate"));
  EXPECT_THAT(refusal("RandomAffine", R"({"degrees": 5, "interpolation": 2})"), StartsWith(path + "interpolation"));
  EXPECT_THAT(refusal("RandomAffine", R"({"degrees": 5, "center": [1, 2]})"), HasSubstr("not supported yet"));
  EXPECT_THAT(refusal("RandomAffine", R"({"degrees": 5, "scale": [0, 1]})"), StartsWith(path + "scale"));
  EXPECT_THAT(refusal("RandomAffine", R"({"degrees": 5, "shear": [1, 2, 3]})"), StartsWith(path + "shear"));
  EXPECT_THAT(refusal("MotionBlur", R"({"kernel_size": 4})"), HasSubstr("an odd number"));
  EXPECT_THAT(refusal("PlanckianJitter", R"({"temperature": 100})"), HasSubstr("from 3000 to 15000"));
  EXPECT_THAT(refusal("Identity", R"({"x": 1})"), HasSubstr("It has: none."));

  ImageTransformOptions options;
  options.max_num_transforms = -1;
  EXPECT_THAT(refusal(options), StartsWith("dataset.image_transforms.max_num_transforms: found -1"));
  options = defaults();
  options.choices[1].weight = std::nan("");
  EXPECT_THAT(refusal(options), StartsWith("dataset.image_transforms.tfs.contrast.weight: found NaN"));
}

}  // namespace
}  // namespace lerobot::data
