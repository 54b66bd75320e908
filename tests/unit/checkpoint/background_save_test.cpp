#include "host/checkpoint/background_save.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Stops the writer at one point of a save until it is let go.
class Gate {
 public:
  explicit Gate(std::string point) : point_(std::move(point)) {}

  SaveHooks hooks() {
    return {.reached =
                [this](std::string_view at) {
                  if (at == point_) opened_.wait();
                },
            .symlink = {}};
  }
  void open() { open_.set_value(); }

 private:
  std::string point_;
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

class Background : public CheckpointTest {
 protected:
  static at::Tensor filled(double value) { return at::full({4, 500}, value, at::kFloat); }

  /// With the same value in all tensors that training changes.
  static Checkpoint with(const at::Tensor& tensor) {
    Checkpoint checkpoint = load(python_checkpoint());
    checkpoint.model = {{"w", tensor}};
    checkpoint.optimizer = {{"state/0/exp_avg", tensor}};
    checkpoint.ema = EmaState{.decay = 0.5, .optimization_step = 1, .shadow = {{"w", tensor}}};
    return checkpoint;
  }
  void expect_saved(float value) {
    const Checkpoint read = load(scratch() / "checkpoints/last");
    for (const Tensors* tensors : {&read.model, &read.optimizer, &read.ema->shadow}) {
      EXPECT_TRUE(tensors->begin()->second.eq(value).all().item<bool>());
    }
  }
};

TEST_F(Background, WhatWasReadMayChangeBeforeItIsOnTheDisk) {
  Gate gate("flushed");
  CheckpointWriter writer(scratch(), 30, gate.hooks());
  BackgroundSave save(writer);
  EXPECT_FALSE(save.in_flight());
  save.wait_until_read();  // of no save
  const at::Tensor tensor = filled(1);
  save.begin(with(tensor));
  save.wait_until_read();
  tensor.fill_(2);
  EXPECT_TRUE(save.in_flight());
  EXPECT_FALSE(save.ended());
  EXPECT_FALSE(fs::exists(scratch() / "checkpoints/last"));
  gate.open();
  save.finish();
  EXPECT_FALSE(save.in_flight());
  expect_saved(1);
}

TEST_F(Background, NothingCountsAsReadBeforeTheLastFile) {
  Gate gate("training_state/optimizer_state.safetensors");
  CheckpointWriter writer(scratch(), 30, gate.hooks());
  BackgroundSave save(writer);
  const at::Tensor tensor = filled(1);
  save.begin(with(tensor));
  std::atomic<bool> read = false;
  std::thread training([&] {
    save.wait_until_read();
    read = true;
    tensor.fill_(2);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(read);
  gate.open();
  training.join();
  save.finish();
  expect_saved(1);
}

TEST_F(Background, WhatHadToBeCopiedMayChangeAtOnce) {
  Gate gate("pretrained_model/model.safetensors");
  CheckpointWriter writer(scratch(), 30, gate.hooks());
  BackgroundSave save(writer);
  const at::Tensor tensor = filled(1);
  save.begin(with(tensor.t()));  // of another order in memory, as a tensor on a device is elsewhere
  save.wait_until_read();
  tensor.fill_(2);
  gate.open();
  save.finish();
  expect_saved(1);
}

TEST_F(Background, AFailureEndsTheWaitAndIsThrownAtTheEnd) {
  const auto fail_to_write = [](std::string_view at) {
    if (at == "pretrained_model/config.json") fail(ErrorKind::kIo, "the disk is gone");
  };
  CheckpointWriter writer(scratch(), 30, {.reached = fail_to_write, .symlink = {}});
  BackgroundSave save(writer);
  save.begin(with(filled(1)));
  save.wait_until_read();
  EXPECT_THAT([&] { save.finish(); }, ThrowsMessage<Error>(HasSubstr("the disk is gone")));
  EXPECT_FALSE(save.in_flight());
  EXPECT_TRUE(fs::is_empty(scratch() / "checkpoints"));
}

TEST_F(Background, ItsEndWaitsForTheSave) {
  Gate gate("flushed");
  CheckpointWriter writer(scratch(), 30, gate.hooks());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  {
    BackgroundSave save(writer);
    save.begin(with(filled(1)));
    EXPECT_THAT([&] { save.begin(with(filled(2))); }, ThrowsMessage<Error>(HasSubstr("another is in flight")));
  }
  expect_saved(1);
  later.join();
}

}  // namespace
}  // namespace lerobot::checkpoint
