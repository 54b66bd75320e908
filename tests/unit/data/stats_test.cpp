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
  EXPECT_THAT(stats.find("state")->find("mean")->values, ElementsAre(1, 2));
  for (const char* name : {"q01", "q99", "std"}) EXPECT_EQ(stats.find("state")->find(name), nullptr);
  EXPECT_EQ(stats.find("action"), nullptr);
}

TEST_F(Stats, ThatAreNotFiniteAreReadAndTruthValuesAreNumbers) {
  const DatasetStats stats = load(R"({"state": {"mean": [1, NaN], "std": [Infinity, 1], "min": [false, true]}})");
  EXPECT_TRUE(std::isnan(stats.find("state")->find("mean")->values[1]));
  EXPECT_TRUE(std::isinf(stats.find("state")->find("std")->values[0]));
  EXPECT_THAT(stats.find("state")->find("min")->values, ElementsAre(0, 1));
}

/// What one episode says of a feature of one number.
FeatureStats of_episode(double least, double greatest, double mean, double deviation, double count) {
  return {{"min", {{1}, {least}}},
          {"max", {{1}, {greatest}}},
          {"mean", {{1}, {mean}}},
          {"std", {{1}, {deviation}}},
          {"count", {{1}, {count}}}};
}

TEST(AggregateStats, PoolsByCountAndTakesTheOuterQuantiles) {
  FeatureStats first = of_episode(-1, 3, 1, 2, 10), second = of_episode(0, 9, 5, 0, 30);
  for (FeatureStats* stats : {&first, &second}) {
    const double shift = stats == &first ? 0 : 10;
    stats->append("q01", {{1}, {shift}});
    stats->append("q50", {{1}, {1 + shift}});
    stats->append("q99", {{1}, {2 + shift}});
  }
  second.append("q90", {{1}, {0}});
  const DatasetStats joined = aggregate_stats({{{"a", first}}, {{"a", second}}}, "file");
  const FeatureStats& stats = *joined.find("a");
  const auto value = [&](const char* name) { return stats.find(name)->values.front(); };
  EXPECT_EQ(value("min"), -1);
  EXPECT_EQ(value("max"), 9);
  EXPECT_EQ(value("mean"), 4);
  EXPECT_DOUBLE_EQ(value("std"), 2);  // (10 (4 + 9) + 30 (0 + 1)) / 40
  EXPECT_EQ(value("count"), 40);
  EXPECT_EQ(value("q01"), 0);
  EXPECT_EQ(value("q50"), 1);
  EXPECT_EQ(value("q99"), 12);
  EXPECT_EQ(stats.find("q90"), nullptr) << "one episode has none";
}

TEST(AggregateStats, LeavesOutWhatAnEpisodeLacksAndRefusesOtherShapes) {
  FeatureStats whole = of_episode(0, 1, 0.5, 0.1, 5), partial = {{"mean", {{1}, {1}}}};
  EXPECT_TRUE(aggregate_stats({{{"a", whole}}, {{"a", partial}}}, "file").empty());
  EXPECT_EQ(aggregate_stats({{{"a", whole}}, {{"b", whole}}}, "file").size(), 2U);
  FeatureStats wide = whole;
  wide["mean"] = {{2}, {1, 2}};
  EXPECT_THAT(data_error_of([&] {
                aggregate_stats({{{"a", whole}}, {{"a", wide}}}, "file");
              }),
              AllOf(HasSubstr("file"), HasSubstr("mean of a"), HasSubstr("(1)"), HasSubstr("(2)")));
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
