#include "host/train/run_watch.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "host/base/error.h"

namespace lerobot::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();

WatchTexts texts(std::int64_t saved_step = 0) {
  return {.examine_samples =
              [](const std::vector<std::int64_t>& rows) { return "Rows: " + std::to_string(rows.at(0)) + "."; },
          .find_overflow = [] { return std::string("It began at weight."); },
          .saved_step = [saved_step] { return saved_step; }};
}

StepValues step(std::int64_t number, double loss, bool skipped = false, std::optional<double> norm = 1.0) {
  StepValues values;
  values.step = number;
  values.rows = {number * 10};
  values.loss = loss;
  values.grad_norm = norm;
  values.updated = true;
  values.skipped = skipped;
  return values;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNumerics);
    return error.what();
  }
  return "no error";
}

TEST(RunWatch, StopsAtALossThatIsNotFiniteAndSaysWhereItCameFrom) {
  RunWatch watch({}, texts());
  watch.check(step(1, 2.5));
  EXPECT_THAT(message_of([&] { watch.check(step(2, std::nan(""))); }),
              AllOf(HasSubstr("the loss is nan at step 2"), HasSubstr("no checkpoint was saved"),
                    HasSubstr("Rows: 20."), HasSubstr("The last finite loss was 2.5"), HasSubstr("Gradient norm: 1")));
  RunWatch saved({}, texts(/*saved_step=*/2));
  EXPECT_THAT(message_of([&] { saved.check(step(3, kInf)); }), HasSubstr("the last checkpoint is that of step 2"));
}

TEST(RunWatch, StopsAtAGradientNormThatIsNotFinite) {
  RunWatch watch({}, texts());
  EXPECT_THAT(message_of([&] { watch.check(step(4, 1, false, kInf)); }),
              HasSubstr("the gradient norm is inf at step 4"));
}

TEST(RunWatch, TakesOverflowsThatTheScalerSkippedAsItsWayOfWorking) {
  RunWatch watch({.max_skipped_updates = 3, .skipped_before = 5}, texts());
  watch.check(step(1, kInf, true, kInf));
  watch.check(step(2, 1, true, std::nan("")));
  watch.check(step(3, 1));
  watch.check(step(4, 1, true, kInf));
  EXPECT_EQ(watch.skipped_updates(), 8);
}

TEST(RunWatch, StopsAfterTooManySkippedUpdatesInARow) {
  RunWatch watch({.max_skipped_updates = 3}, texts(/*saved_step=*/1));
  watch.check(step(1, 2.5));
  watch.check(step(2, 1.5, true));
  watch.check(step(3, kInf, true));
  EXPECT_THAT(message_of([&] { watch.check(step(4, kInf, true)); }),
              AllOf(HasSubstr("the last 3 updates overflowed in fp16"), HasSubstr("at step 4"),
                    HasSubstr("the last checkpoint is that of step 1"), HasSubstr("It began at weight."),
                    HasSubstr("The last finite loss was 1.5"), HasSubstr("--max_skipped_updates")));
}

TEST(RunWatch, CountsUpdatesAndNotMicroBatches) {
  RunWatch watch({.max_skipped_updates = 2}, texts());
  for (std::int64_t i = 1; i <= 3; ++i) {
    StepValues micro_batch = step(i, 1, true);
    micro_batch.updated = i == 3;
    watch.check(micro_batch);
  }
  EXPECT_EQ(watch.skipped_updates(), 1);
}

TEST(RunWatch, StopsAtALossScaleBelowTheLimit) {
  RunWatch watch({.min_loss_scale = 1.0}, texts());
  watch.check(step(1, 1, true));
  watch.check_scale(1.0);
  EXPECT_THAT(message_of([&] { watch.check_scale(0.5); }),
              AllOf(HasSubstr("the loss scale fell to 0.5 after 1 skipped updates, needed 1"), HasSubstr("at step 1"),
                    HasSubstr("--min_loss_scale")));
}

TEST(RunWatch, WithoutLimitsGoesOn) {
  RunWatch watch({.max_skipped_updates = 0, .min_loss_scale = 0}, texts());
  for (std::int64_t i = 1; i <= 100; ++i) watch.check(step(i, kInf, true));
  watch.check_scale(1e-30);
  EXPECT_EQ(watch.skipped_updates(), 100);
}

}  // namespace
}  // namespace lerobot::train
