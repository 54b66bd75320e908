#include "host/policy/features.h"

#include <gmock/gmock.h>

#include "host/base/error.h"

namespace lerobot::policy {
namespace {

using config::FeatureType;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

OrderedMap<DatasetFeature> pusht() {
  return {{"observation.images.side", {"image", {3, 48, 64}, {}}},
          {"observation.image", {"video", {96, 80, 3}, {"height", "width", "channel"}}},
          {"observation.state", {"float32", {2}, {}}},
          {"observation.environment_state", {"float32", {16}, {}}},
          {"action", {"float32", {2}, {}}},
          {"next.reward", {"float32", {1}, {}}},
          {"index", {"int64", {1}, {}}}};
}

TEST(PolicyFeatures, AreTheDatasetsWithImagesChannelsFirst) {
  const config::Features features = policy_features(pusht());
  const config::Features expected{{"observation.images.side", {FeatureType::kVisual, {3, 48, 64}}},
                                  {"observation.image", {FeatureType::kVisual, {3, 96, 80}}},
                                  {"observation.state", {FeatureType::kState, {2}}},
                                  {"observation.environment_state", {FeatureType::kEnv, {16}}},
                                  {"action", {FeatureType::kAction, {2}}}};
  EXPECT_EQ(features, expected);
}

TEST(PolicyFeatures, RefuseAnImageThatIsFlat) {
  EXPECT_THROW(policy_features({{"observation.image", {"video", {96, 96}, {}}}}), Error);
}

TEST(FillFeatures, KeepsInputsThatAreThereAndRenewsOutputs) {
  config::PolicyConfig policy = config::ActConfig{};
  config::common(policy).input_features["observation.image"] = {FeatureType::kVisual, {3, 96, 80}};
  config::common(policy).output_features["old"] = {FeatureType::kAction, {7}};
  fill_features(policy, pusht(), {});
  EXPECT_EQ(config::common(policy).input_features.size(), 1U);
  EXPECT_EQ(config::common(policy).output_features, (config::Features{{"action", {FeatureType::kAction, {2}}}}));
}

TEST(FillFeatures, NamesBothSidesWhenCamerasDoNotFitUnlessTheyAreMapped) {
  config::PolicyConfig policy = config::ActConfig{};
  config::common(policy).input_features["observation.images.top"] = {FeatureType::kVisual, {3, 96, 80}};
  try {
    fill_features(policy, pusht(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("found observation.image, observation.images.side in the dataset, needed observation.images.top"));
  }
  fill_features(policy, pusht(), {{"observation.image", "observation.images.top"}});

  config::PolicyConfig fresh = config::ActConfig{};
  fill_features(fresh, pusht(), {{"observation.image", "observation.images.top"}});
  EXPECT_TRUE(config::common(fresh).input_features.contains("observation.images.top"));
  EXPECT_FALSE(config::common(fresh).input_features.contains("observation.image"));
}

TEST(FillFeatures, RefusesARenamingOfNothingAndTwoOfOneName) {
  const auto refusal = [](const OrderedMap<std::string>& rename_map) -> std::string {
    config::PolicyConfig policy = config::ActConfig{};
    try {
      fill_features(policy, pusht(), rename_map);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(refusal({{"observation.imgae", "observation.images.top"}}),
              AllOf(HasSubstr("found observation.imgae, which the dataset lacks"), HasSubstr("observation.image, ")));
  EXPECT_THAT(
      refusal({{"observation.image", "observation.images.top"}, {"observation.images.side", "observation.images.top"}}),
      HasSubstr("found observation.images.top for both observation.image and observation.images.side"));
  EXPECT_THAT(refusal({{"observation.image", "observation.images.side"}}),
              HasSubstr("found observation.images.side for both"));
  EXPECT_EQ(
      refusal({{"observation.image", "observation.images.side"}, {"observation.images.side", "observation.image"}}),
      "taken");
}

TEST(FillFeatures, ARenamingThatLeavesTheCamerasApartIsRefusedToo) {
  config::PolicyConfig policy = config::ActConfig{};
  config::common(policy).input_features["observation.images.top"] = {FeatureType::kVisual, {3, 96, 80}};
  EXPECT_THROW(fill_features(policy, pusht(), {{"observation.image", "observation.images/wrist.left"}}), Error);
}

TEST(DeltaIndices, OfActAreTheNextActionsOfTheChunk) {
  config::ActConfig act;
  act.chunk_size = 3;
  const auto deltas = delta_indices(act, {"observation.state", "action", "action.extra"});
  ASSERT_EQ(deltas.size(), 1U);
  EXPECT_THAT(*deltas.find("action"), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace lerobot::policy
