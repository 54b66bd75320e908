// The v2.1 form of a recorded dataset against its v3.0 form, and statistics against LeRobot's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <cmath>
#include <cstring>

#include "host/base/json.h"
#include "host/data/compute_stats.h"
#include "host/data/dataset.h"

namespace lerobot::data {
namespace {

const std::filesystem::path kData = LEROBOT_TEST_DATA;

DatasetOptions options_of(const std::string& name) {
  DatasetOptions options;
  options.root = kData / "datasets" / name;
  return options;
}

TEST(V21, ItemsOfTheRecordedDatasetAreThoseOfItsV30Form) {
  DatasetOptions old_form = options_of("pusht_sim_v21"), new_form = options_of("pusht_sim");
  new_form.episodes = {{0, 1, 2}};
  for (DatasetOptions* options : {&old_form, &new_form}) {
    for (int i = 0; i < 16; ++i) options->delta_timestamps["action"].push_back(i / 10.0);
    options->delta_timestamps["observation.image"] = {-0.1, 0};
  }
  const Dataset a(old_form), b(new_form);
  ASSERT_EQ(a.num_frames(), 400);
  ASSERT_EQ(b.num_frames(), 400);
  for (std::int64_t row = 0; row < 400; ++row) {
    const Item first = a.item(row), second = b.item(row);
    ASSERT_EQ(first.tensors.size(), second.tensors.size());
    EXPECT_EQ(first.strings, second.strings);
    for (const auto& [key, tensor] : first.tensors) {
      const Buffer* other = second.tensors.find(key);
      ASSERT_NE(other, nullptr) << key;
      ASSERT_EQ(tensor.shape, other->shape) << key;
      ASSERT_EQ(std::memcmp(tensor.data.get(), other->data.get(), tensor.bytes()), 0) << key << " of row " << row;
    }
  }
}

/// The largest difference of two statistics, relative to the greater of them and 1.
double distance(const Stat& found, const Stat& expected) {
  if (found.shape != expected.shape) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double scale = std::max(1.0, std::abs(expected.values[i]));
    worst = std::max(worst, std::abs(found.values[i] - expected.values[i]) / scale);
  }
  return worst;
}

TEST(V21, StatisticsAreThoseOfLeRobotsConverter) {
  const auto metadata = DatasetMetadata::load(kData / "datasets/pusht_sim_v21");
  const auto golden = json::read_file(kData / "goldens/datasets/pusht_sim_v21.stats.json", ErrorKind::kData);
  const DatasetStats expected = parse_stats(golden.as_object(), "golden", metadata.features());
  EXPECT_EQ(metadata.stats().size(), expected.size());
  for (const auto& [feature, stats] : expected) {
    ASSERT_NE(metadata.stats().find(feature), nullptr) << feature;
    EXPECT_EQ(metadata.stats().find(feature)->size(), stats.size());
    for (const auto& [name, stat] : stats) {
      const Stat* found = metadata.stats().find(feature)->find(name);
      ASSERT_NE(found, nullptr) << name << " of " << feature;
      EXPECT_LT(distance(*found, stat), 1e-14) << name << " of " << feature;
    }
  }
}

/// LeRobot sums in single precision, over a picture's pixels one after the other: three of its digits are right there.
/// Videos were encoded after it had looked.
TEST(ComputedStats, AreNearThoseOfLeRobotsWriter) {
  for (const std::string name : {"pusht_keypoints", "pusht_image", "pusht_sim_h264"}) {
    const Dataset dataset(options_of(name));
    const DatasetMetadata& metadata = dataset.metadata();
    for (const auto& [feature, spec] : metadata.features()) {
      const FeatureStats found =
          spec.is_camera() ? camera_stats(dataset, feature, [] {}) : number_stats(dataset, feature);
      for (const auto& [statistic, stat] : found) {
        const Stat* expected = metadata.stats().find(feature)->find(statistic);
        ASSERT_NE(expected, nullptr) << name << ": " << statistic << " of " << feature;
        const bool is_bound = statistic == "min" || statistic == "max";
        const double of_camera = !is_bound ? 0.02 : spec.is_video() ? 0.2 : 1e-6;
        EXPECT_LE(distance(stat, *expected), spec.is_camera() ? of_camera : 5e-5)
            << name << ": " << statistic << " of " << feature;
      }
    }
  }
}

TEST(ComputedStats, OfImagesAreNumpysInDoublePrecision) {
  const FeatureStats found = camera_stats(Dataset(options_of("pusht_image")), "observation.image", [] {});
  EXPECT_LT(distance(*found.find("mean"), {{3, 1, 1}, {0.9742300825324236, 0.981996461866271, 0.9801625338934818}}),
            1e-10);
  EXPECT_LT(distance(*found.find("std"), {{3, 1, 1}, {0.09820686798438769, 0.07146055612836982, 0.07352530438262604}}),
            1e-10);
  EXPECT_EQ(found.find("count")->values.front(), 204);
}

}  // namespace
}  // namespace lerobot::data
