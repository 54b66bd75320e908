// Saves beside the steps that follow: a small network on the CPU plugin, a real optimizer, average and writer.
#include "host/train/trainer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "host/base/log.h"
#include "host/checkpoint/rng_state.h"
#include "tests/support/plugin_in_process.h"
#include "tests/support/scratch.h"

namespace lerobot::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The loss is the sum of squares of one tensor.
class SquaresPolicy : public policy::Policy {
 public:
  policy::Loss forward(const policy::Batch& batch) override {
    return {.total = weight_.mul(weight_).mul(batch.at("scale")).sum(), .parts = {}};
  }
  at::Tensor predict_action_chunk(const policy::Batch& /*batch*/) override { return {}; }
  at::Tensor select_action(const policy::Batch& /*batch*/) override { return {}; }
  void reset() override {}
  void set_training(bool /*on*/) override {}
  std::vector<policy::ParameterGroup> optim_groups() const override {
    return {{.parameters = {{"weight", weight_}}, .lr = {}}};
  }
  bool has_backbone() const override { return false; }
  void load_backbone(const OrderedMap<at::Tensor>& /*weights*/) override {}

 private:
  void visit(policy::TensorVisitor& visitor) override { visitor.parameter("weight", weight_); }
  void on_state_changed() override {}

  at::Tensor weight_ = at::ones({1000}).set_requires_grad(true);
};

/// Started once: a plugin has one device.
accel::Accelerator& cpu() {
  static const std::unique_ptr<accel::Accelerator> started = test::start_in_process(test::plugin_library("cpu"));
  return *started;
}

/// One run; its hooks may be set before go().
class SmallRun {
 public:
  SmallRun(fs::path directory, std::int64_t steps, std::int64_t save_freq) : directory_(std::move(directory)) {
    fs::create_directories(directory_);
    options_.steps = steps;
    options_.log_freq = 1;
    options_.save_freq = save_freq;
  }

  int go() {
    checkpoint::CheckpointWriter writer(directory_, options_.steps, {.reached = reached, .symlink = {}});
    checkpoint::BackgroundSave saver(writer);
    TrainStep step({.policy = policy_,
                    .optimizer = *optimizer_,
                    .scaler = scaler_,
                    .ema = &ema_,
                    .accelerator = cpu(),
                    .before_update = [&] { saver.wait_until_read(); }},
                   {});
    report::Metrics metrics({.samples_per_step = 1, .num_frames = 100, .num_episodes = 1}, 0);
    report::MetricsLog metrics_log(directory_, 0);
    LoopParts parts;
    parts.next_batch = [this] {
      const float scale = ++batches == bad_batch ? std::numeric_limits<float>::infinity() : 1.0F;
      return TrainingBatch{.tensors = {{"scale", at::full({}, scale)}}, .rows = {}};
    };
    parts.step = &step;
    parts.optimizer = optimizer_.get();
    parts.scaler = &scaler_;
    parts.ema = &ema_;
    parts.accelerator = &cpu();
    parts.metrics = &metrics;
    parts.metrics_log = &metrics_log;
    parts.examine_samples = [](const std::vector<std::int64_t>&) { return std::string(); };
    parts.state = [this](std::int64_t at, std::int64_t) { return state(at); };
    parts.saver = &saver;
    return run_loop(options_, parts, 0);
  }

  fs::path checkpoint(const std::string& name) const { return directory_ / "checkpoints" / name; }

  std::function<void(std::string_view point)> reached;  ///< called by the writer
  std::atomic<std::int64_t> batches = 0;                ///< that were asked for
  std::int64_t bad_batch = -1;                          ///< the one whose loss is infinite

 private:
  checkpoint::Checkpoint state(std::int64_t at) const {
    checkpoint::Checkpoint out;
    out.position.step = at;
    out.config_json = out.train_config_json = "{}";
    out.model = policy_.state_dict();
    out.optimizer = optimizer_->state_tensors();
    out.optimizer_param_groups = optimizer_->param_groups_json();
    out.ema = ema_.state();
    out.rng = checkpoint::fresh_rng_state(1);
    return out;
  }

  fs::path directory_;
  LoopOptions options_;
  SquaresPolicy policy_;
  std::unique_ptr<optim::Optimizer> optimizer_ =
      optim::make_optimizer(config::AdamWConfig{.lr = 0.1}, policy_.optim_groups());
  precision::GradScaler scaler_{cpu(), at::kCPU, config::GradScalerConfig{}, /*enabled=*/false};
  optim::Ema ema_{policy_.parameters(), config::EmaConfig{}, /*float64=*/true};
};

class Trainer : public ScratchTest {};

void expect_same_files(const fs::path& found, const fs::path& expected) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(expected)) {
    if (!entry.is_regular_file()) continue;
    const fs::path file = fs::relative(entry.path(), expected);
    EXPECT_TRUE(read_text(found / file, ErrorKind::kIo) == read_text(entry.path(), ErrorKind::kIo))
        << found / file << " differs";
    ++files;
  }
  EXPECT_EQ(files, 11U);
}

// The writer is slow after its first file: an update that does not wait would change what is not yet written.
TEST_F(Trainer, ACheckpointHoldsWhatItsStepLeftHoweverLongTheSaveTakes) {
  SmallRun run(scratch() / "run", 4, 1);
  run.reached = [](std::string_view at) {
    if (at == "pretrained_model/model.safetensors") std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  EXPECT_EQ(run.go(), 0);
  for (std::int64_t stop = 1; stop <= 4; ++stop) {
    SmallRun stopped(scratch() / std::to_string(stop), stop, 0);
    EXPECT_EQ(stopped.go(), 0);
    const std::string name = checkpoint::step_name(stop, 4);
    expect_same_files(run.checkpoint(name), stopped.checkpoint(name));
  }
}

TEST_F(Trainer, TrainsOnWhileACheckpointGoesToTheDisk) {
  SmallRun run(scratch(), 5, 2);
  bool went_on = true;
  run.reached = [&](std::string_view at) {
    if (at != "flushed") return;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (run.batches < 4 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    went_on = went_on && run.batches >= 4;  // after the update of step 3
  };
  EXPECT_EQ(run.go(), 0);
  EXPECT_TRUE(went_on);
  for (const char* name : {"000002", "000004", "000005"}) EXPECT_TRUE(checkpoint::is_complete(run.checkpoint(name)));
}

TEST_F(Trainer, ASaveInTheMiddleThatFailsCostsTheCheckpointAndNotTheRun) {
  SmallRun run(scratch(), 4, 1);
  std::int64_t saves = 0;
  run.reached = [&](std::string_view at) {
    if (at == "flushed" && ++saves == 2) fail(ErrorKind::kIo, "the disk is full");
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run.go(), 0);
  log::flush();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("the checkpoint of step 2 could not be saved: the checkpoint of step 2 was not saved"));
  for (const char* name : {"000001", "000003", "000004"}) EXPECT_TRUE(checkpoint::is_complete(run.checkpoint(name)));
  EXPECT_FALSE(fs::exists(run.checkpoint("000002")));
}

TEST_F(Trainer, AFinalSaveThatFailsIsTheEndOfTheRun) {
  SmallRun run(scratch(), 2, 1);
  std::int64_t saves = 0;
  run.reached = [&](std::string_view at) {
    if (at == "flushed" && ++saves == 2) fail(ErrorKind::kIo, "the disk is full");
  };
  EXPECT_THAT([&] { run.go(); }, ThrowsMessage<Error>(HasSubstr("step 2 was not saved")));
  EXPECT_TRUE(checkpoint::is_complete(run.checkpoint("000001")));
}

TEST_F(Trainer, ARunThatStopsNamesTheCheckpointThatIsStillBeingWritten) {
  SmallRun run(scratch(), 9, 2);
  run.bad_batch = 3;
  run.reached = [](std::string_view at) {
    if (at == "flushed") std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  EXPECT_THAT([&] { run.go(); }, ThrowsMessage<Error>(HasSubstr("the last checkpoint is that of step 2")));
  EXPECT_TRUE(checkpoint::is_complete(run.checkpoint("000002")));
}

}  // namespace
}  // namespace lerobot::train
