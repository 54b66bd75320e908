#include "host/data/compute_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

struct Sampled {
  std::int64_t length, count, weighted_sum;
  std::vector<std::int64_t> first;
};

/// sample_indices of LeRobot 0.6.2.
TEST(SampledFrames, AreThoseOfLeRobot) {
  const std::vector<Sampled> cases = {{1, 1, 0, {0}},
                                      {2, 2, 2, {0, 1}},
                                      {50, 50, 41650, {0, 1, 2, 3, 4, 5}},
                                      {100, 100, 333300, {0, 1, 2, 3, 4, 5}},
                                      {101, 100, 337075, {0, 1, 2, 3, 4, 5}},
                                      {300, 100, 1006825, {0, 3, 6, 9, 12, 15}},
                                      {500, 105, 1851206, {0, 5, 10, 14, 19, 24}},
                                      {1000, 177, 10491644, {0, 6, 11, 17, 23, 28}},
                                      {2000, 299, 59770145, {0, 7, 13, 20, 27, 34}},
                                      {30000, 2279, 51959463758, {0, 13, 26, 40, 53, 66}}};
  for (const Sampled& expected : cases) {
    std::vector<std::int64_t> frames = sampled_frames(expected.length);
    ASSERT_EQ(std::ssize(frames), expected.count) << expected.length;
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < frames.size(); ++k) sum += static_cast<std::int64_t>(k + 1) * frames[k];
    EXPECT_EQ(sum, expected.weighted_sum) << expected.length;
    frames.resize(expected.first.size());
    EXPECT_EQ(frames, expected.first);
  }
}

Dataset open(const SyntheticDataset& source, const TempDirectory& directory) {
  source.write(directory.path());
  DatasetOptions options;
  options.root = directory.path();
  return Dataset(options);
}

TEST(NumberStats, AreOfAllRowsAndKeepSmallSpreadsOfLargeValues) {
  SyntheticDataset source;
  source.episodes = {{0, 2}, {1, 1}};
  source.numbers.push_back({"action", 2, [](const SyntheticEpisode& episode, std::int64_t frame, std::int64_t place) {
                              return place == 0 ? 8388608.0F + static_cast<float>(frame + 4 * episode.index) : 0.5F;
                            }});
  const TempDirectory directory;
  const Dataset dataset = open(source, directory);
  const FeatureStats stats = number_stats(dataset, "action");  // 8388608 and 0, 1, 4
  EXPECT_EQ(*stats.find("min"), (Stat{{2}, {8388608, 0.5}}));
  EXPECT_EQ(*stats.find("max"), (Stat{{2}, {8388612, 0.5}}));
  EXPECT_THAT(stats.find("mean")->values, ElementsAre(DoubleNear(8388608 + 5 / 3.0, 1e-8), 0.5));
  EXPECT_THAT(stats.find("std")->values, ElementsAre(DoubleNear(std::sqrt(26 / 9.0), 1e-12), 0.0));
  EXPECT_EQ(*stats.find("count"), (Stat{{1}, {3}}));
  EXPECT_EQ(*number_stats(dataset, "frame_index").find("max"), (Stat{{1}, {1}}));
}

TEST(CameraStats, AreOfTheSampledPixelsOfEachChannel) {
  constexpr int kWidth = 320, kHeight = 310;  // thinned to every second pixel of every second row
  SyntheticDataset source;
  source.camera = R"({"dtype": "image", "shape": [310, 320, 3], "names": ["height", "width", "channels"]})";
  source.episodes = {{0, 2}};
  source.image = [](std::int64_t row) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(kWidth * kHeight) * 3);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        std::uint8_t* pixel = &pixels[static_cast<std::size_t>(y * kWidth + x) * 3];
        const bool seen = x % 2 == 0 && y % 2 == 0;
        pixel[0] = seen ? static_cast<std::uint8_t>(100 * row) : 255;
        pixel[1] = 51;
        pixel[2] = x % 4 == 0 ? 0 : 102;
      }
    }
    return encode_image("png", "rgb24", kWidth, kHeight, pixels);
  };
  const TempDirectory directory;
  const Dataset dataset = open(source, directory);
  int frames = 0;
  const FeatureStats stats = camera_stats(dataset, "observation.image", [&] { ++frames; });
  EXPECT_EQ(frames, 2);
  EXPECT_EQ(stats.find("mean")->shape, (std::vector<std::int64_t>{3, 1, 1}));
  EXPECT_THAT(stats.find("mean")->values,
              ElementsAre(DoubleNear(50 / 255.0, 1e-12), DoubleNear(0.2, 1e-12), DoubleNear(0.2, 1e-12)));
  EXPECT_THAT(stats.find("std")->values,
              ElementsAre(DoubleNear(50 / 255.0, 1e-9), DoubleNear(0, 1e-9), DoubleNear(0.2, 1e-9)));
  EXPECT_THAT(stats.find("max")->values, ElementsAre(100 / 255.0, 0.2, 0.4));
  EXPECT_EQ(stats.find("count")->values.front(), 2);
}

}  // namespace
}  // namespace lerobot::data
