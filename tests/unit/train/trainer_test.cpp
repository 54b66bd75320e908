#include "host/train/trainer.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>

namespace lerobot::train {
namespace {

TEST(PendingValues, ReadsEveryValueOnceWhenTheLineIsDue) {
  report::Metrics metrics({.samples_per_step = 1, .num_frames = 1, .num_episodes = 1}, 0);
  PendingValues pending;
  pending.add("loss", at::tensor(1.0F));
  pending.add("loss", at::tensor(4.0F));
  pending.flush(metrics);
  EXPECT_EQ(metrics.average("loss"), 2.5);
  metrics.start_window();
  pending.flush(metrics);
  EXPECT_EQ(metrics.average("loss"), 0.0);
}

TEST(PendingValues, TakesHalfPrecisionScalars) {
  report::Metrics metrics({.samples_per_step = 1, .num_frames = 1, .num_episodes = 1}, 0);
  PendingValues pending;
  pending.add("loss", at::tensor(1.5F).to(at::kBFloat16));
  pending.flush(metrics);
  EXPECT_EQ(metrics.average("loss"), 1.5);
}

}  // namespace
}  // namespace lerobot::train
