#include "host/train/held_out.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "host/base/error.h"
#include "host/train/dataset_setup.h"
#include "host/train/interrupt.h"
#include "host/train/random_state.h"

namespace lerobot::train {
namespace {

/// Knows only whether it is in training mode.
class ModePolicy : public policy::Policy {
 public:
  policy::Loss forward(const policy::Batch& /*batch*/) override { return {}; }
  at::Tensor predict_action_chunk(const policy::Batch& /*batch*/) override { return {}; }
  at::Tensor select_action(const policy::Batch& /*batch*/) override { return {}; }
  void reset() override {}
  void set_training(bool on) override { training = on; }
  std::vector<policy::ParameterGroup> optim_groups() const override { return {}; }
  bool has_backbone() const override { return false; }
  void load_backbone(const OrderedMap<at::Tensor>& /*weights*/) override {}

  bool training = true;

 private:
  void visit(policy::TensorVisitor& /*visitor*/) override {}
  void on_state_changed() override {}
};

/// Ten frames of a dataset, in batches of four: 4, 4 and 2. The loss of batch i is `losses[i]`.
class HeldOutTest : public ::testing::Test {
 protected:
  HeldOut held_out(std::int64_t workers = 0) {
    config::TrainConfig config;
    config.dataset.root = (std::filesystem::path(LEROBOT_TEST_DATA) / "datasets/pusht_keypoints").string();
    config.policy = config::ActConfig{};
    HeldOutParts parts;
    parts.dataset = open_datasets(config, 1).train;
    parts.loading.batch_size = 4;
    parts.loading.num_workers = workers;
    parts.loading.rows = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
    parts.policy = &policy_;
    parts.prepare = [this](const data::Batch& batch) {
      rows_.insert(rows_.end(), batch.rows.begin(), batch.rows.end());
      return policy::Batch{};
    };
    parts.forward = [this](const policy::Batch&) {
      EXPECT_FALSE(policy_.training);
      EXPECT_FALSE(at::GradMode::is_enabled());
      const policy::Loss loss{.total = at::tensor(losses_.at(batches_++)), .parts = {}};
      if (in_forward_) in_forward_();
      return loss;
    };
    return HeldOut(std::move(parts));
  }

  ModePolicy policy_;
  std::vector<float> losses_{1.0F, 2.5F, 0.1F};
  std::size_t batches_ = 0;
  std::vector<std::int64_t> rows_;
  std::function<void()> in_forward_;
};

TEST_F(HeldOutTest, IsTheMeanOfTheBatchesInOrderWithoutTrainingOrGradients) {
  for (const std::int64_t workers : {0, 2}) {
    batches_ = 0;
    rows_.clear();
    EXPECT_EQ(held_out(workers).loss(), (1.0 + 2.5 + static_cast<double>(0.1F)) / 3);
    EXPECT_EQ(rows_, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_TRUE(policy_.training);
    EXPECT_TRUE(at::GradMode::is_enabled());
  }
}

TEST_F(HeldOutTest, CanBeTakenAgainAndAgain) {
  HeldOut held_out = this->held_out(1);
  const std::optional<double> first = held_out.loss();
  batches_ = 0;
  EXPECT_EQ(held_out.loss(), first);
}

TEST_F(HeldOutTest, TakesOneNumberOfTheGeneratorAsPythonsLoaderDoes) {
  HeldOut held_out = this->held_out(2);
  const at::Generator& generator = at::detail::getDefaultCPUGenerator();
  seed_everything(5);
  draw_loader_seed();
  const at::Tensor expected = generator.get_state();
  seed_everything(5);
  held_out.loss();
  EXPECT_TRUE(at::equal(generator.get_state(), expected));
}

TEST_F(HeldOutTest, LeavesThePolicyInTrainingModeWhenABatchFails) {
  in_forward_ = [] { fail(ErrorKind::kData, "no such tensor"); };
  EXPECT_THROW(held_out().loss(), Error);
  EXPECT_TRUE(policy_.training);
  EXPECT_TRUE(at::GradMode::is_enabled());
}

TEST_F(HeldOutTest, LossThatIsNotFiniteIsGivenBack) {
  losses_[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(held_out().loss().value()));
}

TEST_F(HeldOutTest, CtrlCEndsItAfterTheBatch) {
  const InterruptGuard interrupt({SIGINT});
  in_forward_ = [] { std::raise(SIGINT); };
  EXPECT_EQ(held_out(1).loss(), std::nullopt);
  EXPECT_EQ(batches_, 1U);
  EXPECT_TRUE(policy_.training);
}

}  // namespace
}  // namespace lerobot::train
