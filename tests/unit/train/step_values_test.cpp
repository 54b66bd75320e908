#include "host/train/step_values.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <limits>

namespace lerobot::train {
namespace {

using ::testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();

StepReport report(float loss, bool updated, std::optional<float> found_inf = std::nullopt) {
  StepReport out;
  out.loss.total = at::tensor(loss);
  out.loss.parts.append("l1_loss", at::tensor(loss / 2));
  out.updated = updated;
  if (updated) out.grad_norm = at::tensor(loss * 2);
  if (found_inf) out.found_inf = at::tensor(*found_inf);
  return out;
}

std::vector<std::int64_t> steps_of(const std::vector<StepValues>& values) {
  std::vector<std::int64_t> steps;
  for (const StepValues& step : values) steps.push_back(step.step);
  return steps;
}

TEST(PendingSteps, GiveEveryValueOnce) {
  PendingSteps pending(/*scaled=*/false);
  pending.add(7, {3, 4}, report(1, false));
  pending.add(8, {5, 6}, report(4, true));
  const std::vector<StepValues> values = pending.read();
  ASSERT_THAT(steps_of(values), ElementsAre(7, 8));
  EXPECT_THAT(values[0].rows, ElementsAre(3, 4));
  EXPECT_EQ(values[0].loss, 1);
  EXPECT_EQ(*values[1].parts.find("l1_loss"), 2);
  EXPECT_FALSE(values[0].grad_norm);
  EXPECT_EQ(values[1].grad_norm, 8);
  EXPECT_FALSE(values[0].updated);
  EXPECT_TRUE(values[1].updated);
  EXPECT_FALSE(values[1].skipped);
  EXPECT_TRUE(pending.read().empty());
}

TEST(PendingSteps, TakeScalarsOfHalfPrecision) {
  PendingSteps pending(false);
  StepReport half = report(1, true);
  half.loss.total = at::tensor(1.5F).to(at::kBFloat16).reshape({1});
  pending.add(1, {}, half);
  EXPECT_EQ(pending.read().front().loss, 1.5);
}

TEST(PendingSteps, OfAnAccumulationWindowShareTheFateOfItsUpdate) {
  PendingSteps pending(/*scaled=*/true);
  pending.add(1, {}, report(kInf, false));
  EXPECT_TRUE(pending.read().empty()) << "whether this step's update happens is not known";
  pending.add(2, {}, report(2, true, 1.0F));
  pending.add(3, {}, report(3, false));
  pending.add(4, {}, report(4, true, 0.0F));
  pending.add(5, {}, report(5, false));
  const std::vector<StepValues> values = pending.read();
  ASSERT_THAT(steps_of(values), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(values[0].skipped);
  EXPECT_TRUE(values[1].skipped);
  EXPECT_FALSE(values[2].skipped);
  EXPECT_FALSE(values[3].skipped);
  EXPECT_EQ(pending.size(), 1U);
}

TEST(PendingSteps, CountAFlagThatSeveralRanksRaised) {
  PendingSteps pending(true);
  pending.add(1, {}, report(1, true, 3.0F));
  EXPECT_TRUE(pending.read().front().skipped);
}

}  // namespace
}  // namespace lerobot::train
