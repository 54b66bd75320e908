#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "host/base/json.h"
#include "host/checkpoint/layout.h"
#include "host/checkpoint/loader.h"
#include "tests/support/program.h"
#include "tests/support/scratch.h"

namespace lerobot::checkpoint {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::Program;

constexpr int kKilled = 128 + SIGKILL;

class Kill : public ScratchTest {
 protected:
  /// The newest complete checkpoint loads, and all its parts are of one step; `last` leads to a complete one, too.
  void expect_whole(const std::string& when) {
    const auto latest = find_latest(scratch());
    ASSERT_TRUE(latest) << when;
    for (const fs::path& directory : {*latest, scratch() / "checkpoints" / "last"}) {
      if (!fs::exists(directory)) continue;  // killed before the first `last`
      const Checkpoint checkpoint = load(directory);
      const auto step = static_cast<float>(checkpoint.position.step);
      EXPECT_EQ(std::stoll(fs::canonical(directory).filename().string()), checkpoint.position.step) << when;
      EXPECT_EQ(checkpoint.config_json, "{\"step\": " + std::to_string(checkpoint.position.step) + "}") << when;
      ASSERT_TRUE(checkpoint.ema && checkpoint.scaler) << when;
      EXPECT_EQ(checkpoint.ema->optimization_step, checkpoint.position.step) << when;
      EXPECT_EQ(checkpoint.scaler->at("scale").as_double(), step) << when;
      const Tensors average = load_model(directory / kPretrainedModelEma);
      for (const Tensors* tensors : {&checkpoint.model, &checkpoint.optimizer, &checkpoint.ema->shadow, &average}) {
        EXPECT_TRUE(tensors->begin()->second.eq(step).all().item<bool>()) << when;
      }
    }
  }
};

TEST_F(Kill, AtRandomMomentsOfARunThatSavesAllTheTime) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Program saver(CHECKPOINT_SAVER, {scratch().string()});
    ASSERT_TRUE(saver.wait_for_output("saved")) << saver.output();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    saver.send(SIGKILL);
    ASSERT_EQ(saver.wait().exit_code, kKilled);
    expect_whole(format("round {}", round));
  }
}

TEST_F(Kill, AfterEachFileRenameAndLinkOfASave) {
  const std::vector<std::string> points{"pretrained_model/model.safetensors",
                                        "pretrained_model/config.json",
                                        "pretrained_model/train_config.json",
                                        "pretrained_model/policy_preprocessor.json",
                                        "pretrained_model/policy_preprocessor_step_3_normalizer_processor.safetensors",
                                        "pretrained_model/policy_postprocessor.json",
                                        "pretrained_model_ema/model.safetensors",
                                        "pretrained_model_ema/train_config.json",
                                        "pretrained_model_ema/policy_postprocessor.json",
                                        "training_state/training_step.json",
                                        "training_state/rng_state.safetensors",
                                        "training_state/scaler_state.json",
                                        "training_state/optimizer_state.safetensors",
                                        "training_state/optimizer_param_groups.json",
                                        "training_state/ema_state.pt",
                                        "flushed",
                                        "renamed",
                                        "last"};
  for (const std::string& point : points) {
    for (const char* count : {"2", "4"}) {  // the second save of a run, and one onto a step that is there already
      const Outcome outcome = test::run_program(CHECKPOINT_SAVER, {scratch().string(), point, count});
      ASSERT_EQ(outcome.exit_code, kKilled) << point << ": " << outcome.out;
      expect_whole(point);
    }
  }
  // What the last kill left is gone after the next start.
  test::run_program(CHECKPOINT_SAVER, {scratch().string(), "last", "1"});
  for (const auto& entry : fs::directory_iterator(scratch() / "checkpoints")) {
    EXPECT_NE(entry.path().filename().string().front(), '.') << entry.path();
  }
}

}  // namespace
}  // namespace lerobot::checkpoint
