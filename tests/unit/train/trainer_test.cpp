// Saves beside the steps that follow: a small network on the CPU plugin, a real optimizer, average and writer.
#include "host/train/trainer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <thread>

#include "host/base/error.h"
#include "host/base/exit_status.h"
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
      if (before_batch) before_batch(batches);
      return TrainingBatch{.tensors = {{"scale", at::full({}, scale)}}, .rows = {}, .dataloading_s = dataloading_s};
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

  std::function<void(std::string_view point)> reached;   ///< called by the writer
  std::function<void(std::int64_t batch)> before_batch;  ///< called by the loop, counted from 1
  double dataloading_s = 0;                              ///< that each batch says it took
  std::atomic<std::int64_t> batches = 0;                 ///< that were asked for
  std::int64_t bad_batch = -1;                           ///< the one whose loss is infinite

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

// Zero or less means never, and the last step is saved once.
TEST_F(Trainer, SavesAtEachMultipleAndOnceAtTheEnd) {
  using Steps = std::vector<std::string>;
  const std::map<std::int64_t, Steps> expected{
      {-1, {"000005"}},          {0, {"000005"}}, {1, {"000001", "000002", "000003", "000004", "000005"}},
      {3, {"000003", "000005"}}, {5, {"000005"}}, {1000, {"000005"}}};
  for (const auto& [save_freq, steps] : expected) {
    const fs::path directory = scratch() / std::to_string(save_freq);
    SmallRun run(directory, 5, save_freq);
    std::map<std::string, int> saves;
    run.reached = [&](std::string_view at) {
      if (at == "flushed") ++saves["all"];
    };
    EXPECT_EQ(run.go(), 0);
    Steps found;
    for (const fs::path& path : checkpoint::list_checkpoints(directory)) found.push_back(path.filename());
    std::reverse(found.begin(), found.end());
    EXPECT_EQ(found, steps) << save_freq;
    EXPECT_EQ(saves["all"], static_cast<int>(steps.size())) << save_freq;
  }
}

TEST_F(Trainer, SigtermDuringASaveStopsAfterTheStepAndSavesIt) {
  SmallRun run(scratch(), 100, 2);
  std::atomic<bool> asked = false;
  run.reached = [&](std::string_view at) {
    if (at == "flushed" && !asked.exchange(true)) std::raise(SIGTERM);
  };
  EXPECT_EQ(run.go(), kExitRestart);
  const auto last = checkpoint::read_last(scratch());
  ASSERT_TRUE(last);
  EXPECT_EQ(last->filename(), checkpoint::step_name(run.batches, 100));
  EXPECT_TRUE(checkpoint::is_complete(*last));
  EXPECT_TRUE(checkpoint::is_complete(run.checkpoint("000002"))) << "the save that was on its way is over, too";
}

TEST_F(Trainer, SigtermBeforeTheFirstStepSavesThatStep) {
  SmallRun run(scratch(), 100, 0);
  run.before_batch = [](std::int64_t batch) {
    if (batch == 1) std::raise(SIGTERM);
  };
  EXPECT_EQ(run.go(), kExitRestart);
  EXPECT_TRUE(checkpoint::is_complete(run.checkpoint("000001")));
}

TEST_F(Trainer, CtrlCHasAnExitCodeOfItsOwnAndARunThatIsOverHasNone) {
  SmallRun stopped(scratch() / "stopped", 100, 0);
  stopped.before_batch = [](std::int64_t batch) {
    if (batch == 3) std::raise(SIGINT);
  };
  EXPECT_EQ(stopped.go(), 130);
  EXPECT_TRUE(checkpoint::is_complete(stopped.checkpoint("000003")));
  SmallRun over(scratch() / "over", 3, 0);
  over.before_batch = [](std::int64_t batch) {
    if (batch == 3) std::raise(SIGTERM);
  };
  EXPECT_EQ(over.go(), 0);
  EXPECT_TRUE(checkpoint::is_complete(over.checkpoint("000003")));
}

TEST_F(Trainer, ALoaderThatFailsEndsTheRunAndKeepsTheSaveThatIsOnItsWay) {
  SmallRun run(scratch(), 9, 2);
  run.reached = [](std::string_view at) {
    if (at == "flushed") std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  run.before_batch = [](std::int64_t batch) {
    if (batch == 3) fail(ErrorKind::kData, "sample row 17: the picture is broken");
  };
  EXPECT_THAT([&] { run.go(); }, ThrowsMessage<Error>(HasSubstr("sample row 17")));
  EXPECT_TRUE(checkpoint::is_complete(run.checkpoint("000002")));
}

std::string said_with_wait(const fs::path& directory, double dataloading_s) {
  SmallRun run(directory, 5, 0);
  run.dataloading_s = dataloading_s;
  run.before_batch = [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run.go(), 0);
  log::flush();
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(Trainer, SaysOnceThatMostOfTheTimeGoesIntoWaitingForData) {
  const std::string hint = "more than half of each step waits for data";
  const std::string said = said_with_wait(scratch() / "slow", 0.01);
  const std::size_t first = said.find(hint);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(hint, first + 1), std::string::npos) << said;
  EXPECT_THAT(said, HasSubstr(" data_s:0.010 "));
  EXPECT_THAT(said_with_wait(scratch() / "fast", 0.001), ::testing::Not(HasSubstr(hint)));
}

bool is_told_as_out_of_memory(std::int64_t elements) {
  try {
    at::full({elements}, 1.0F).reshape({2, -1});
  } catch (const c10::Error& error) {
    return is_out_of_memory(error);
  }
  ADD_FAILURE() << "nothing was thrown";
  return false;
}

TEST_F(Trainer, KnowsTorchsErrorsForMemoryOnTheCpuFromOthers) {
  EXPECT_TRUE(is_told_as_out_of_memory(std::int64_t{1} << 50U));
  EXPECT_FALSE(is_told_as_out_of_memory(3)) << "a shape that does not fit";
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
