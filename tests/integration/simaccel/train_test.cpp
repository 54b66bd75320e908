// Training on the simulated accelerator equals training on the CPU: it runs the CPU's kernels over the same numbers, so
// a difference is the host's fault (or a copy, a place or a random number that should not be).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/json.h"
#include "tests/integration/simaccel/sim_support.h"
#include "tests/simaccel/counters.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Simaccel : public ::testing::Test {
 protected:
  Folder folder_;
  fs::path cpu_ = folder_.path / "cpu";
  fs::path sim_ = folder_.path / "sim";

  std::vector<std::string> keypoints(const fs::path& output, const std::vector<std::string>& more = {}) const {
    return tiny_act("pusht_keypoints", output, with({"--policy.optimizer_lr=1e-3"}, more));
  }
};

void expect_same_losses(const fs::path& a, const fs::path& b) {
  for (const char* name : {"loss", "l1_loss", "kld_loss", "grad_norm", "lr"}) {
    EXPECT_EQ(column(a, name), column(b, name)) << name;
  }
}

bool same_file(const fs::path& a, const fs::path& b, const fs::path& file) {
  return file_content(a / "checkpoints" / file) == file_content(b / "checkpoints" / file);
}

TEST_F(Simaccel, ActWithDropoutTrainsToTheBitsOfTheCpu) {
  const std::vector<std::string> more{"--steps=8", "--save_freq=4"};
  run(keypoints(cpu_, more));
  run(on_simaccel(keypoints(sim_, more)), same_numbers());
  expect_same_losses(cpu_, sim_);
  EXPECT_TRUE(same_file(cpu_, sim_, "000008/pretrained_model/model.safetensors"));
  EXPECT_TRUE(same_file(cpu_, sim_, "000008/training_state/optimizer_state.safetensors"));

  // Each side's checkpoint goes on, here and on the other device.
  for (const fs::path& from : {cpu_, sim_}) fs::remove_all(from / "checkpoints/000008");
  const auto resumed = [](const fs::path& from) {
    return std::vector<std::string>{"--resume=true", "--config_path=" + (from / "checkpoints/000004").string(),
                                    "--steps=8", "--num_threads=1", "--kernels=reference"};
  };
  run(on_simaccel(resumed(cpu_)), same_numbers());
  run(with(resumed(sim_), {"--policy.device=cpu"}));
  expect_same_losses(cpu_, sim_);
  EXPECT_TRUE(same_file(cpu_, sim_, "000008/pretrained_model/model.safetensors"));
}

TEST_F(Simaccel, ActWithACameraTrainsToTheBitsOfTheCpu) {
  const auto camera = [](const fs::path& output) {
    return tiny_act("pusht_sim", output, {"--steps=3", "--batch_size=2", "--save_checkpoint=false"});
  };
  run(camera(cpu_));
  run(on_simaccel(camera(sim_)), same_numbers());
  expect_same_losses(cpu_, sim_);
}

TEST_F(Simaccel, AccumulatedGradientsAreTheCpus) {
  const std::vector<std::string> more{"--steps=6", "--accelerator.gradient_accumulation.steps=3",
                                      "--save_checkpoint=false"};
  run(keypoints(cpu_, more));
  run(on_simaccel(keypoints(sim_, more)), same_numbers());
  expect_same_losses(cpu_, sim_);
}

TEST_F(Simaccel, ItsOwnRandomStateIsPartOfTheCheckpoint) {
  run(on_simaccel(keypoints(cpu_, {"--steps=6"}), "simaccel:1"));
  run(on_simaccel(keypoints(sim_, {"--steps=3"}), "simaccel:1"));
  const std::string out = run(
      on_simaccel({"--resume=true", "--config_path=" + sim_.string(), "--steps=6", "--num_threads=1"}, "simaccel:1"));
  expect_same_losses(cpu_, sim_);
  EXPECT_TRUE(same_file(cpu_, sim_, "000006/training_state/rng_state.safetensors"));
  EXPECT_THAT(file_content(sim_ / "checkpoints/000006/training_state/rng_state.safetensors"),
              HasSubstr("torch_simaccel_rng_state"));
  EXPECT_THAT(out, HasSubstr("Device: simaccel:1 (Simulated accelerator 1, plugin simaccel)"));
  const auto config = json::read_file(sim_ / "checkpoints/last/pretrained_model/config.json", ErrorKind::kData);
  EXPECT_EQ(config.at("device").as_string(), "simaccel:1");
}

TEST_F(Simaccel, TheFirstDeviceIsStoredByItsTypeAlone) {
  run(on_simaccel(keypoints(sim_, {"--steps=1"}), "simaccel:0"));
  const fs::path model = sim_ / "checkpoints/last/pretrained_model";
  EXPECT_EQ(json::read_file(model / "config.json", ErrorKind::kData).at("device").as_string(), "simaccel");
  EXPECT_THAT(file_content(model / "policy_preprocessor.json"), HasSubstr("\"device\": \"simaccel\""));
  EXPECT_THAT(run(on_simaccel({"--resume=true", "--config_path=" + sim_.string(), "--steps=2"})),
              HasSubstr("Device: simaccel:0 ("));
}

TEST_F(Simaccel, WithoutFloat64NoneIsAsked) {
  run(on_simaccel(keypoints(sim_, {"--steps=2"})), same_numbers("float64=no"));
  const auto camera = tiny_act("pusht_sim", cpu_, {"--steps=1", "--batch_size=2", "--save_checkpoint=false"});
  run(on_simaccel(camera), same_numbers("float64=no"));
}

TEST_F(Simaccel, Bf16AutocastComputesInBf16) {
  const std::vector<std::string> more{"--steps=3", "--save_checkpoint=false"};
  run(on_simaccel(keypoints(cpu_, more)), same_numbers());
  run(on_simaccel(keypoints(sim_, with(more, {"--accelerator.mixed_precision=bf16"}))), same_numbers());
  const auto exact = column(cpu_, "loss"), rounded = column(sim_, "loss");
  ASSERT_EQ(rounded.size(), 3U);
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    EXPECT_NEAR(rounded[i], exact[i], exact[i] * 5e-2);
    EXPECT_NE(rounded[i], exact[i]);
  }
}

TEST_F(Simaccel, IsNeitherStartedNorUsedWhenTheCpuIsAsked) {
  const std::string file = (folder_.path / "counters").string();
  const Environment watched{{"LEROBOT_SIMACCEL_COUNTERS", file}};
  const simaccel::Counters& counters = simaccel::map_counters(file.c_str());
  run(on_simaccel(keypoints(cpu_, {"--steps=3"}), "cpu"), watched);
  EXPECT_EQ(counters.inits, 0U);
  EXPECT_EQ(counters.devices[0].allocations, 0U);

  run(on_simaccel(keypoints(sim_, {"--steps=3"}), "simaccel:1"), watched);
  EXPECT_EQ(counters.inits, 1U);
  EXPECT_EQ(counters.devices[0].allocations, 0U) << "the other device was used";
  EXPECT_EQ(counters.devices[0].operators, 0U);
  EXPECT_GT(counters.devices[1].allocations, 0U);
  EXPECT_GT(counters.devices[1].peak_bytes, counters.devices[1].bytes);
  // Forward on the program's thread, backward on autograd's.
  EXPECT_GT(counters.threads[0].operators[1], 0U);
  EXPECT_GT(counters.threads[1].operators[1], 0U);
}

TEST_F(Simaccel, ASlowDeviceShowsInTheUpdateAndNotInTheWaitForData) {
  // More than five hundred operators in an update, on the host's thread and on autograd's.
  run(on_simaccel(keypoints(sim_, {"--steps=2", "--save_checkpoint=false"})), {{"LEROBOT_SIMACCEL", "delay_us=200"}});
  const double update = column(sim_, "update_s").at(1), waited = column(sim_, "dataloading_s").at(1);
  EXPECT_GT(update, 0.1);
  EXPECT_LT(waited, update / 4);
  EXPECT_NEAR(column(sim_, "step_s").at(1), update + waited + column(sim_, "preprocessing_s").at(1), 0.01);
}

TEST_F(Simaccel, IsNeverChosenByItself) {
  const std::vector<std::string> arguments =
      with(keypoints(cpu_, {"--steps=1", "--save_checkpoint=false"}), {"--plugins=" LEROBOT_SIMACCEL_DIRECTORY});
  EXPECT_THAT(run(arguments), HasSubstr("Device: cpu ("));
}

}  // namespace
}  // namespace lerobot::test
