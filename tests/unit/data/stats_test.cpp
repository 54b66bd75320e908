#include "host/data/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Stats : public testing::Test {
 protected:
  DatasetStats load(const std::string& text) {
    std::filesystem::create_directories(directory_.path() / "meta");
    std::ofstream(directory_.path() / "meta/stats.json") << text;
    OrderedMap<FeatureSpec> features;
    features["image"] = {"video", {4, 4, 3}, {"height", "width", "channels"}, false};
    features["state"] = {"float32", {2}, {}, false};
    return load_stats(directory_.path(), features);
  }

  TempDirectory directory_;
};

TEST_F(Stats, MayBeAbsent) {
  EXPECT_TRUE(load_stats(directory_.path(), {}).empty());
  const DatasetStats stats = load(R"({"state": {"mean": [1, 2], "q01": null, "q99": []}})");
  EXPECT_THAT(find_finite_stat(stats, "state", "mean").values, ElementsAre(1, 2));
  for (const char* name : {"q01", "q99", "std"}) {
    EXPECT_THAT(data_error_of([&] { find_finite_stat(stats, "state", name); }),
                AllOf(HasSubstr("meta/stats.json"), HasSubstr(name), HasSubstr("state")));
  }
  EXPECT_THAT(data_error_of([&] { find_finite_stat(stats, "action", "mean"); }), HasSubstr("action"));
}

TEST_F(Stats, ThatAreNotFiniteAreReadAndRefusedWhenUsed) {
  const DatasetStats stats = load(R"({"state": {"mean": [1, NaN], "std": [Infinity, 1], "min": [0, 0]}})");
  EXPECT_TRUE(std::isnan(stats.find("state")->find("mean")->values[1]));
  EXPECT_THAT(find_finite_stat(stats, "state", "min").values, ElementsAre(0, 0));
  EXPECT_THAT(data_error_of([&] { find_finite_stat(stats, "state", "mean"); }),
              AllOf(HasSubstr("mean of state has NaN at place 1")));
  EXPECT_THAT(data_error_of([&] { find_finite_stat(stats, "state", "std"); }), HasSubstr("Infinity"));
}

TEST_F(Stats, OfCamerasMayBeWrittenInThreeWays) {
  for (const char* text : {"[[[1]], [[2]], [[3]]]", "[1, 2, 3]", "[[[[1]], [[2]], [[3]]]]"}) {
    const DatasetStats stats = load(std::string(R"({"image": {"count": [9], "mean": )") + text + "}}");
    EXPECT_EQ(*stats.find("image")->find("mean"), (Stat{{3, 1, 1}, {1, 2, 3}})) << text;
    EXPECT_EQ(*stats.find("image")->find("count"), (Stat{{1}, {9}}));
  }
}

TEST_F(Stats, ThatAreNotFullBlocksOfNumbersAreRefused) {
  for (const char* text : {"[[1, 2], [3]]", "[1, [2]]", "\"a\"", "[\"a\"]"}) {
    EXPECT_THAT(data_error_of([&] { load(std::string(R"({"state": {"mean": )") + text + "}}"); }),
                HasSubstr("mean of state"))
        << text;
  }
}

TEST_F(Stats, OfCamerasBecomeImageNets) {
  DatasetStats stats =
      load(R"({"image": {"min": [[[0]], [[0]], [[0]]], "mean": [[[1]], [[2]], [[3]]]}, "state": {"mean": [1, 2]}})");
  imagenet_stats(stats, {"image"});
  EXPECT_EQ(*stats.find("image")->find("mean"), (Stat{{3, 1, 1}, {0.485, 0.456, 0.406}}));
  EXPECT_EQ(*stats.find("image")->find("std"), (Stat{{3, 1, 1}, {0.229, 0.224, 0.225}}));
  EXPECT_EQ(*stats.find("image")->find("min"), (Stat{{3, 1, 1}, {0, 0, 0}}));
  EXPECT_EQ(*stats.find("state")->find("mean"), (Stat{{2}, {1, 2}}));
}

}  // namespace
}  // namespace lerobot::data
