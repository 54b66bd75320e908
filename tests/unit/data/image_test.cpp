#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/data/binary_column.h"
#include "host/data/dataset.h"
#include "host/data/image_decoder.h"
#include "host/data/png_file.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::uint8_t> noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> values(bytes);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random());
  return values;
}

TEST(Images, OfPngKeepEveryValue) {
  constexpr int kWidth = 7, kHeight = 5;
  for (const auto& [format, channels] : {std::pair{"rgb24", 3}, {"rgba", 4}, {"gray", 1}}) {
    const std::vector<std::uint8_t> pixels = noise(static_cast<std::size_t>(kWidth * kHeight * channels), 1);
    const Buffer image = decode_image(encode_image("png", format, kWidth, kHeight, pixels), "test");
    ASSERT_EQ(image.shape, (std::vector<std::int64_t>{channels, kHeight, kWidth})) << format;
    ASSERT_EQ(image.dtype, DType::kUInt8);
    for (int c = 0; c < channels; ++c) {
      for (int i = 0; i < kWidth * kHeight; ++i) {
        ASSERT_EQ(elements_of<std::uint8_t>(image)[c * kWidth * kHeight + i],
                  pixels[static_cast<std::size_t>(i * channels + c)]);
      }
    }
  }
}

// Interlaced, 2 bits of grey; a palette. Written with another library.
constexpr unsigned char kSmallGrey[] = {
    137, 80, 78, 71, 13,  10,  26,  10,  0,   0,   0,   13, 73, 72, 68, 82, 0,   0,   0,  4,   0,  0,   0,  2,  2,
    0,   0,  0,  1,  103, 116, 10,  136, 0,   0,   0,   16, 73, 68, 65, 84, 120, 156, 99, 96,  96, 104, 96, 40, 96,
    120, 2,  0,  4,  188, 1,   213, 211, 176, 151, 243, 0,  0,  0,  0,  73, 69,  78,  68, 174, 66, 96,  130};
constexpr unsigned char kPalette[] = {137, 80, 78, 71, 13, 10,  26,  10, 0,  0,  0,   13,  73,  72,  68,  82, 0,   0,
                                      0,   2,  0,  0,  0,  1,   8,   3,  0,  0,  0,   195, 252, 143, 184, 0,  0,   0,
                                      6,   80, 76, 84, 69, 1,   2,   3,  4,  5,  6,   149, 83,  111, 72,  0,  0,   0,
                                      11,  73, 68, 65, 84, 120, 156, 99, 96, 96, 4,   0,   0,   4,   0,   2,  191, 122,
                                      63,  74, 0,  0,  0,  0,   73,  69, 78, 68, 174, 66,  96,  130};

template <std::size_t N>
std::vector<std::byte> bytes_of(const unsigned char (&values)[N]) {
  const auto* first = reinterpret_cast<const std::byte*>(values);
  return {first, first + N};
}

TEST(Images, OfPngWithFewBitsOfGreyAreSpreadOverEightAndMayBeInterlaced) {
  const Buffer image = decode_image(bytes_of(kSmallGrey), "test");
  ASSERT_EQ(image.shape, (std::vector<std::int64_t>{1, 2, 4}));
  const auto* values = elements_of<std::uint8_t>(image);
  EXPECT_EQ(std::vector<int>(values, values + 8), (std::vector<int>{0, 85, 170, 255, 255, 170, 85, 0}));
}

TEST(Images, OfPngKindsThatAreNotReadAreRefusedByName) {
  EXPECT_THAT(data_error_of([] { decode_image(bytes_of(kPalette), "the file"); }),
              AllOf(HasSubstr("the file: an image of a palette with 8 bits"), HasSubstr("needed 8-bit RGB")));
}

TEST(Images, WrittenAsPngAreReadBack) {
  const Picture picture{.width = 5, .height = 3, .pixels = noise(45, 4)};
  const std::string file = encode_png(picture);
  const auto* first = reinterpret_cast<const std::byte*>(file.data());
  const Buffer image = decode_image({first, first + file.size()}, "test");
  ASSERT_EQ(image.shape, (std::vector<std::int64_t>{3, 3, 5}));
  for (int i = 0; i < 45; ++i) {
    ASSERT_EQ(elements_of<std::uint8_t>(image)[i % 3 * 15 + i / 3], picture.pixels[static_cast<std::size_t>(i)]);
  }
}

TEST(Images, Of16BitGreyBecomeFloatsOfTheSameValue) {
  const std::vector<std::uint8_t> pixels = {0x00, 0x01, 0xff, 0xff, 0x12, 0x34, 0x00, 0x00};
  const Buffer image = decode_image(encode_image("png", "gray16be", 2, 2, pixels), "test");
  ASSERT_EQ(image.shape, (std::vector<std::int64_t>{1, 2, 2}));
  ASSERT_EQ(image.dtype, DType::kFloat32);
  const float* values = elements_of<float>(image);
  EXPECT_EQ(std::vector<float>(values, values + 4), (std::vector<float>{1, 65535, 0x1234, 0}));
}

TEST(Images, OfJpegComeNearTheirColour) {
  // Full-range planes of one colour: Y 76, Cb 85, Cr 255 is red.
  std::vector<std::uint8_t> planes(16 * 16 * 3);
  std::fill_n(planes.begin(), 256, std::uint8_t{76});
  std::fill_n(planes.begin() + 256, 256, std::uint8_t{85});
  std::fill_n(planes.begin() + 512, 256, std::uint8_t{255});
  const Buffer image = decode_image(encode_image("mjpeg", "yuvj444p", 16, 16, planes), "test");
  ASSERT_EQ(image.shape, (std::vector<std::int64_t>{3, 16, 16}));
  for (int i = 0; i < 256; ++i) {
    EXPECT_NEAR(elements_of<std::uint8_t>(image)[i], 254, 3);
    EXPECT_NEAR(elements_of<std::uint8_t>(image)[256 + i], 0, 3);
    EXPECT_NEAR(elements_of<std::uint8_t>(image)[512 + i], 0, 3);
  }
}

TEST(Images, ThatAreDamagedOrNotImagesAreRefusedByName) {
  std::vector<std::byte> png = encode_image("png", "rgb24", 32, 32, noise(32 * 32 * 3, 2));
  const auto error_of = [](const std::vector<std::byte>& file) {
    return data_error_of([&] { decode_image(file, "the file"); });
  };
  std::vector<std::byte> flipped = png;
  flipped[flipped.size() / 2] ^= std::byte{1};
  EXPECT_THAT(error_of(flipped), AllOf(HasSubstr("the file: the image ("), HasSubstr("is damaged (IDAT: ")));
  std::vector<std::byte> huge = png;
  huge[18] = std::byte{1};  // 65568 pixels wide
  EXPECT_THAT(error_of(huge), HasSubstr("is damaged"));
  png.resize(png.size() / 2);
  EXPECT_THAT(error_of(png), HasSubstr("is damaged (it ends too early)"));
  EXPECT_THAT(data_error_of([&] { decode_image({}, "the file"); }), HasSubstr("the file: there is no image"));
  EXPECT_THAT(data_error_of([&] { decode_image(std::vector<std::byte>(9), "the file"); }),
              HasSubstr("neither PNG nor JPEG"));
}

std::vector<std::byte> image_bytes(std::int64_t row) {
  // Some rows are the same, so that the writer's dictionary is used before it overflows.
  const auto seed = static_cast<unsigned>(row % 3 == 0 ? 0 : row);
  return encode_image("png", "rgb24", 8, 6, noise(8 * 6 * 3, seed));
}

TEST(Images, AreFoundByRowInAnyOrderThroughManyPagesAndRowGroups) {
  const TempDirectory directory;
  SyntheticDataset source;
  source.camera = R"({"dtype": "image", "shape": [6, 8, 3], "names": ["height", "width", "channels"]})";
  source.episodes = {{0, 120}, {1, 200}};
  source.image = image_bytes;
  source.row_group_rows = 170;
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  options.frame_cache_bytes = 20000;
  const Dataset dataset(options);
  std::mt19937 random(3);
  for (int i = 0; i < 600; ++i) {
    const auto row = static_cast<std::int64_t>(random() % 320);
    const Buffer expected = decode_image(image_bytes(row), "test");
    const Item item = dataset.item(row);
    const Buffer& found = *item.tensors.find("observation.image");
    ASSERT_EQ(found.shape, expected.shape);
    for (std::int64_t k = 0; k < found.elements(); ++k) {
      ASSERT_EQ(elements_of<float>(found)[k], static_cast<float>(elements_of<std::uint8_t>(expected)[k]) / 255.0f);
    }
  }
}

TEST(Images, DeclaredWithChannelsFirstOrLastAreTheSame) {
  std::vector<std::vector<float>> seen;
  for (const char* shape :
       {R"("shape": [6, 8, 3], "names": ["height", "width", "channel"])",
        R"("shape": [3, 6, 8], "names": ["channels", "height", "width"])", R"("shape": [3, 6, 8], "names": null)"}) {
    const TempDirectory directory;
    SyntheticDataset source;
    source.camera = std::string(R"({"dtype": "image", )") + shape + "}";
    source.episodes = {{0, 2}};
    source.image = image_bytes;
    source.write(directory.path());
    DatasetOptions options;
    options.root = directory.path();
    const Dataset dataset(options);
    EXPECT_EQ(dataset.metadata().features().find("observation.image")->policy_shape(),
              (std::vector<std::int64_t>{3, 6, 8}));
    const Item item = dataset.item(1);
    const Buffer& image = *item.tensors.find("observation.image");
    seen.emplace_back(elements_of<float>(image), elements_of<float>(image) + image.elements());
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(Images, WhoseChannelAxisIsUnclearAreRefused) {
  for (const std::string shape : {"3, 8, 3", "3, 3, 64", "48, 3, 64"}) {
    const TempDirectory directory;
    SyntheticDataset source;
    source.camera = R"({"dtype": "image", "names": null, "shape": [)" + shape + "]}";
    source.episodes = {{0, 2}};
    source.image = image_bytes;
    source.write(directory.path());
    EXPECT_THAT(data_error_of([&] { DatasetMetadata::load(directory.path()); }),
                AllOf(HasSubstr("observation.image"), HasSubstr("(" + shape + ")"), HasSubstr("names")));
  }
}

}  // namespace
}  // namespace lerobot::data
