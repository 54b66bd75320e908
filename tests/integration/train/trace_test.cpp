// Whole runs of the program against what Python LeRobot logged for the same command, unrounded.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "host/base/json.h"
#include "tests/integration/train/run_support.h"

namespace lerobot::test {
namespace {

using boost::json::value;

value read_trace(const std::string& checkpoint, const std::string& name) {
  return json::read_file(test_data("checkpoints/" + checkpoint) / name, ErrorKind::kData);
}

/// How far a value may be from Python's, relative.
struct Tolerance {
  double loss;
  double part;  ///< l1_loss, kld_loss
  double grad_norm;
};

/// Losses, parts and gradient norms of a run against a trace's updates: the first five within 1e-5, later ones within
/// `later`, since rounding grows from update to update.
void expect_trace(const std::filesystem::path& output_dir, const value& trace, const Tolerance& later) {
  const auto records = metrics(output_dir);
  const auto& updates = trace.at("updates").as_array();
  ASSERT_EQ(records.size(), updates.size());
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const auto& update = updates[i].as_object();
    EXPECT_EQ(records[i].at("step").as_int64(), update.at("step").as_int64());
    for (const auto& [key, expected_value] : update) {
      if (key == "step" || key == "frames") continue;
      const double expected = expected_value.to_number<double>();
      const double found = records[i].at(key).to_number<double>();
      const double grown = key == "loss" ? later.loss : key == "grad_norm" ? later.grad_norm : later.part;
      const double allowed = i < 5 ? std::min(1e-5, grown) : grown;
      EXPECT_NEAR(found, expected, std::abs(expected) * allowed)
          << std::string(key) << " at step " << update.at("step");
    }
  }
}

TEST(Trace, ActWithoutCameraFollowsPython) {
  const std::filesystem::path output = make_temporary_directory("trace") + "/run";
  const value trace = read_trace("act_keypoints", "trace.json");
  train(recorded_flags(trace.at("command"), output));
  expect_trace(output, trace, {.loss = 1e-5, .part = 1e-5, .grad_norm = 1e-4});
}

TEST(Trace, ActWithCameraFollowsPython) {
  const std::filesystem::path output = make_temporary_directory("trace") + "/run";
  const value trace = read_trace("act_pusht", "trace.json");
  train(recorded_flags(trace.at("command"), output));
  // The L1 part is a fiftieth of the loss here: the same rounding weighs fifty times as much in it.
  expect_trace(output, trace, {.loss = 5e-5, .part = 2e-3, .grad_norm = 1e-3});
}

// Python's own resumed run draws one number more than the straight one; ours continues the straight one.
TEST(Trace, PythonsCheckpointContinuesAsTheStraightRunDid) {
  const std::filesystem::path output = make_temporary_directory("trace") + "/run";
  const value trace = read_trace("act_keypoints", "trace.json");
  const std::string config =
      (test_data("checkpoints/act_keypoints/checkpoints/000020/pretrained_model/train_config.json")).string();
  train({"--resume=true", "--config_path=" + config, "--dataset.root=" + test_data("datasets/pusht_keypoints").string(),
         "--output_dir=" + output.string()});
  value rest = trace;
  auto& updates = rest.at("updates").as_array();
  updates.erase(updates.begin(), updates.begin() + 20);
  expect_trace(output, rest, {.loss = 1e-5, .part = 1e-5, .grad_norm = 1e-4});
}

TEST(Trace, Bfloat16ComputesInBfloat16AndStaysNearFloat32) {
  // Python's recorded bf16 run took one number more from the generator than ours does (see the test above), so it is
  // the float32 trace from the same state and with the same noise that ours is compared with.
  const std::filesystem::path output = make_temporary_directory("trace") + "/run";
  const value trace = read_trace("act_keypoints", "trace.json");
  const std::string config =
      (test_data("checkpoints/act_keypoints/checkpoints/000020/pretrained_model/train_config.json")).string();
  train({"--resume=true", "--config_path=" + config, "--dataset.root=" + test_data("datasets/pusht_keypoints").string(),
         "--accelerator.mixed_precision=bf16", "--output_dir=" + output.string()});
  const auto losses = column(output, "loss");
  const auto& updates = trace.at("updates").as_array();
  ASSERT_EQ(losses.size(), 10U);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double in_float32 = updates[20 + i].at("loss").as_double();
    EXPECT_NEAR(losses[i], in_float32, in_float32 * 2e-2) << "step " << 21 + i;
    EXPECT_GT(std::abs(losses[i] - in_float32), in_float32 * 1e-6) << "step " << 21 + i << " was not in bfloat16";
  }
}

}  // namespace
}  // namespace lerobot::test
