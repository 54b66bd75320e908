// Training in fp16 on the simulated accelerator, whose scaler finds overflows where a test wants them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "host/base/json.h"
#include "tests/integration/simaccel/sim_support.h"
#include "tests/simaccel/counters.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

const std::string kScaler = "--accelerator.grad_scaler.";

std::string overflows(const std::string& updates) {
  return updates.empty() ? "" : "overflow_at=" + updates;
}

std::string precision(const std::string& name) {
  return "--accelerator.mixed_precision=" + name;
}

class Fp16 : public ::testing::Test {
 protected:
  fs::path out(const std::string& name) const { return folder_.path / name; }
  static fs::path checkpoint(const fs::path& run, int step) {
    return run / "checkpoints" / (std::string(5, '0') + std::to_string(step));
  }

  /// A run in fp16 from a scale that does not overflow by itself, every step logged.
  std::vector<std::string> fp16(const std::string& name, const std::vector<std::string>& more) const {
    const std::vector<std::string> flags{precision("fp16"), kScaler + "init_scale=1024", "--policy.optimizer_lr=1e-3"};
    return on_simaccel(tiny_act("pusht_keypoints", out(name), with(flags, more)));
  }
  std::vector<std::string> resumed(const fs::path& from, const std::string& name,
                                   const std::vector<std::string>& more) const {
    return on_simaccel(with(
        {"--resume=true", "--config_path=" + from.string(), "--output_dir=" + out(name).string(), "--num_threads=1"},
        more));
  }
  static Outcome outcome(const std::vector<std::string>& arguments, const std::string& controls = "") {
    return run_program(train_program(), arguments, same_numbers(controls));
  }

  Folder folder_;
};

/// Files of two checkpoints that hold the state of training, by the names that are not equal.
std::vector<std::string> differences(const fs::path& a, const fs::path& b, bool with_random_state = true) {
  std::vector<std::string> files{"pretrained_model/model.safetensors", "pretrained_model_ema/model.safetensors",
                                 "training_state/optimizer_state.safetensors", "training_state/ema_state.pt"};
  if (with_random_state) {
    files.emplace_back("training_state/scaler_state.json");
    files.emplace_back("training_state/rng_state.safetensors");
  }
  std::vector<std::string> different;
  for (const std::string& file : files) {
    EXPECT_TRUE(fs::exists(a / file)) << a / file;
    if (file_content(a / file) != file_content(b / file)) different.push_back(file);
  }
  return different;
}

TEST_F(Fp16, ASkippedUpdateMovesNothingAndHalvesTheScale) {
  run(fp16("run", {kScaler + "growth_interval=2", "--steps=6", "--save_freq=1", "--ema.enable=true"}),
      same_numbers(overflows("3+4")));
  EXPECT_THAT(column(out("run"), "scale"), ElementsAre(1024, 2048, 1024, 512, 512, 1024));
  EXPECT_THAT(column(out("run"), "skipped_updates"), ElementsAre(0, 0, 1, 2, 2, 2));
  EXPECT_THAT(column(out("run"), "ema/step"), ElementsAre(1, 2, 2, 2, 3, 4));
  const fs::path before = checkpoint(out("run"), 2);
  EXPECT_THAT(differences(before, checkpoint(out("run"), 3), false), ElementsAre());
  EXPECT_THAT(differences(before, checkpoint(out("run"), 4), false), ElementsAre());
  EXPECT_EQ(differences(before, checkpoint(out("run"), 5), false).size(), 4U) << "training goes on";
  const auto state = json::read_file(checkpoint(out("run"), 6) / "training_state/scaler_state.json", ErrorKind::kData);
  EXPECT_EQ(json::write_line(state),
            R"({"scale":1024.0,"growth_factor":2.0,"backoff_factor":0.5,"growth_interval":2,"_growth_tracker":0})");
  const auto position =
      json::read_file(checkpoint(out("run"), 6) / "training_state/training_step.json", ErrorKind::kData);
  EXPECT_EQ(position.at("skipped_updates").as_int64(), 2);
}

TEST_F(Fp16, RecoversFromAScaleThatIsTooLarge) {
  const std::string said = run(fp16("run", {kScaler + "init_scale=1099511627776", "--max_skipped_updates=0",
                                            "--steps=40", "--log_freq=40", "--ema.enable=true"}),
                               same_numbers());
  // Nothing of the overflowed steps gets into the averages.
  EXPECT_THAT(column(out("run"), "loss"), Each(Le(200)));
  EXPECT_THAT(column(out("run"), "grad_norm"), Each(Le(2000)));
  const double skipped = column(out("run"), "skipped_updates").at(0);
  EXPECT_GT(skipped, 20);
  EXPECT_LT(skipped, 40);
  EXPECT_EQ(column(out("run"), "scale").at(0), std::ldexp(1.0, 40 - static_cast<int>(skipped)));
  EXPECT_EQ(column(out("run"), "ema/step").at(0), 40 - skipped);
  EXPECT_THAT(said, AllOf(HasSubstr(" updates were skipped by the loss scaler"), Not(HasSubstr("nan"))));
}

TEST_F(Fp16, StoppedInTheMiddleOfAGrowthIntervalItGoesOnToTheBit) {
  const std::vector<std::string> flags{kScaler + "growth_interval=3", "--steps=9", "--save_freq=1", "--ema.enable=true",
                                       "--policy.dropout=0.1"};
  run(fp16("straight", flags), same_numbers(overflows("4")));
  EXPECT_THAT(column(out("straight"), "scale"), ElementsAre(1024, 1024, 2048, 1024, 1024, 1024, 2048, 2048, 2048));
  for (const int k : {1, 3, 4, 5, 8}) {
    const std::string name = "resumed" + std::to_string(k);
    run(resumed(checkpoint(out("straight"), k), name, {"--steps=9", "--save_freq=0"}),
        same_numbers(overflows(k < 4 ? std::to_string(4 - k) : "")));
    EXPECT_THAT(differences(checkpoint(out("straight"), 9), checkpoint(out(name), 9)), ElementsAre()) << "from " << k;
    EXPECT_EQ(column(out(name), "skipped_updates").back(), 1);
  }
}

TEST_F(Fp16, TheScheduleMovesWithEveryStepSkippedOrNot) {
  const std::vector<std::string> flags{"--scheduler.type=constant_with_warmup", "--scheduler.num_warmup_steps=4",
                                       "--steps=6", "--save_checkpoint=false"};
  run(fp16("skipping", flags), same_numbers(overflows("1+2+5")));
  run(fp16("landing", flags), same_numbers());
  EXPECT_EQ(column(out("skipping"), "lr"), column(out("landing"), "lr"));
  EXPECT_THAT(column(out("skipping"), "lr"), ElementsAre(0.25e-3, 0.5e-3, 0.75e-3, 1e-3, 1e-3, 1e-3));
}

TEST_F(Fp16, AccumulatedGradientsAreCheckedOnceForEachUpdate) {
  const std::string said =
      run(fp16("run", {kScaler + "growth_interval=1", "--accelerator.gradient_accumulation.steps=3", "--steps=9",
                       "--save_freq=3", "--ema.enable=true"}),
          same_numbers(overflows("2")));
  EXPECT_THAT(column(out("run"), "scale"), ElementsAre(1024, 1024, 2048, 2048, 2048, 1024, 1024, 1024, 2048));
  EXPECT_THAT(column(out("run"), "ema/step"), ElementsAre(0, 0, 1, 1, 1, 1, 1, 1, 2));
  EXPECT_THAT(differences(checkpoint(out("run"), 3), checkpoint(out("run"), 6), false), ElementsAre());
  EXPECT_EQ(differences(checkpoint(out("run"), 6), checkpoint(out("run"), 9), false).size(), 4U);
  EXPECT_THAT(said, HasSubstr("1 updates were skipped"));
}

TEST_F(Fp16, AScaleThatOnlyFallsStopsTheRunWithAnExplanation) {
  std::string all = "4";
  for (int i = 5; i < 60; ++i) all += "+" + std::to_string(i);
  const Outcome low = outcome(fp16("low", {"--steps=60", "--save_freq=1"}), overflows(all));
  expect_error_line(low, 7,
                    {"the loss scale fell to 0.5 after 11 skipped updates, needed 1", "at step 14",
                     "the last checkpoint is that of step 13", "The last finite loss was", "--min_loss_scale"});
  EXPECT_GE(column(out("low"), "scale").back(), 1.0);
  EXPECT_TRUE(fs::exists(checkpoint(out("low"), 3)));

  // Read seldom, noticed all the same: within twice the limit.
  const Outcome many = outcome(
      fp16("many", {"--steps=60", "--save_freq=3", "--log_freq=50", "--max_skipped_updates=5", "--min_loss_scale=0"}),
      overflows(all));
  expect_error_line(many, 7,
                    {"the last 5 updates overflowed in fp16 and were skipped at step 8",
                     "the last checkpoint is that of step 6", "Use bf16 or no mixed precision"});
}

TEST_F(Fp16, OverflowsByItselfAndNamesTheGradient) {
  const Outcome stopped = outcome(fp16("run", {kScaler + "init_scale=1e30", "--max_skipped_updates=4", "--steps=60"}));
  expect_error_line(stopped, 7,
                    {"the last 4 updates overflowed", "no checkpoint was saved",
                     "The first gradient that is not finite is that of model."});
}

TEST_F(Fp16, MayBeResumedInAnyPrecisionFromAnyOther) {
  const std::vector<std::string> names{"no", "bf16", "fp16"};
  for (const std::string& from : names) {
    const std::vector<std::string> flags{precision(from), "--steps=2"};
    run(on_simaccel(tiny_act("pusht_keypoints", out(from), flags)), same_numbers());
    for (const std::string& to : names) {
      const std::string said =
          run(resumed(checkpoint(out(from), 2), from + to, {precision(to), "--steps=3"}), same_numbers());
      const bool warns = to == "fp16" && from != "fp16";
      const bool ignores = from == "fp16" && to != "fp16";
      EXPECT_EQ(said.find("the loss scale starts again from 65536") != std::string::npos, warns) << from << to << said;
      EXPECT_EQ(said.find("is not used: this run is not in fp16") != std::string::npos, ignores) << from << to << said;
      const fs::path state = checkpoint(out(from + to), 3) / "training_state/scaler_state.json";
      EXPECT_EQ(fs::exists(state), to == "fp16") << from << to;
    }
  }
}

TEST_F(Fp16, AScalerStateThatCannotBeIsRefusedBeforeLongWork) {
  run(fp16("run", {"--steps=2"}), same_numbers());
  const fs::path file = checkpoint(out("run"), 2) / "training_state/scaler_state.json";
  const std::string good = file_content(file);
  const auto resume_with = [&](const std::string& text) {
    std::ofstream(file) << text;
    return outcome(resumed(checkpoint(out("run"), 2), "again", {"--steps=3"}));
  };
  const auto with_scale = [&](const std::string& scale) {
    std::string text = good;
    return text.replace(text.find("1024.0"), 6, scale);
  };
  for (const std::string scale : {"0.0", "-1024.0", "NaN", "\"1024.0\"", "1024", "null"}) {
    expect_error_line(resume_with(with_scale(scale)), 6,
                      {"scaler_state.json: scale: found ", "needed a number above 0"});
  }
  expect_error_line(resume_with("{\"scale\": 1024.0}"), 6, {"growth_factor: is missing"});
  expect_error_line(resume_with("[1, 2]"), 6, {"scaler_state.json"});
  expect_error_line(resume_with(good.substr(0, good.size() / 2)), 6, {"scaler_state.json"});
  EXPECT_FALSE(fs::exists(out("again")));

  EXPECT_THAT(resume_with("{}").out, HasSubstr("the loss scale starts again from 1024"));
  fs::remove_all(out("again"));
  fs::remove(file);
  EXPECT_THAT(outcome(resumed(checkpoint(out("run"), 2), "again", {"--steps=3"})).out,
              HasSubstr("no such file: the loss scale starts again from 1024"));
}

TEST_F(Fp16, ScalerFlagsThatASavedStateWouldOverruleAreRefused) {
  run(fp16("run", {"--steps=2"}), same_numbers());
  const std::vector<std::string> flags{kScaler + "growth_interval=5", "--steps=3"};
  expect_error_line(outcome(resumed(checkpoint(out("run"), 2), "again", flags)), 2,
                    {"--accelerator.grad_scaler: a resumed run goes on with the scaler", "--policy.path"});
}

TEST_F(Fp16, NeedsNoFloat64OnTheDevice) {
  run(fp16("run", {"--steps=4", kScaler + "growth_interval=2", "--ema.enable=true"}),
      same_numbers("float64=no," + overflows("2")));
  EXPECT_THAT(column(out("run"), "scale"), ElementsAre(1024, 512, 512, 1024));
}

TEST_F(Fp16, NoStepWaitsForTheDevice) {
  const auto reads = [&](const std::string& steps, const std::string& more) {
    const std::string file = (folder_.path / ("counters" + steps)).string();
    Environment environment = same_numbers(overflows("2"));
    environment["LEROBOT_SIMACCEL_COUNTERS"] = file;
    run(fp16("run" + steps + more,
             {"--steps=" + steps, "--save_checkpoint=false", "--log_freq=0", "--ema.enable=true", more}),
        environment);
    return simaccel::map_counters(file.c_str()).devices[0].reads.load();
  };
  // What is read at the end of a run is read once.
  const std::uint64_t few = reads("3", "--max_skipped_updates=0");
  EXPECT_EQ(reads("19", "--max_skipped_updates=0"), few);
  EXPECT_GT(reads("20", "--max_skipped_updates=4"), few) << "the watch reads now and then";
}

TEST_F(Fp16, MatrixProductsAndConvolutionsRunInIt) {
  for (const auto& [name, type] : {std::pair{"fp16", simaccel::NumberType::kFloat16},
                                   {"bf16", simaccel::NumberType::kBFloat16},
                                   {"no", simaccel::NumberType::kFloat32}}) {
    const std::string file = (folder_.path / (std::string("counters.") + name)).string();
    Environment environment = same_numbers();
    environment["LEROBOT_SIMACCEL_COUNTERS"] = file;
    const std::vector<std::string> flags{precision(name), "--steps=1", "--batch_size=1", "--save_checkpoint=false"};
    run(on_simaccel(tiny_act("pusht_sim", out(name), flags)), environment);
    simaccel::DeviceCounters& device = simaccel::map_counters(file.c_str()).devices[0];
    for (const auto other :
         {simaccel::NumberType::kFloat32, simaccel::NumberType::kFloat16, simaccel::NumberType::kBFloat16}) {
      EXPECT_EQ(device.convolutions[other] > 0, other == type) << name << " " << static_cast<int>(other);
      // The loss and what belongs to it stay in float32.
      if (other != simaccel::NumberType::kFloat32) {
        EXPECT_EQ(device.products[other] > 0, other == type) << name;
      }
    }
    EXPECT_GT(device.products[type], 50U) << name;
  }
}

TEST_F(Fp16, WithACameraLearns) {
  const std::vector<std::string> flags{precision("fp16"), kScaler + "init_scale=1024", "--steps=4", "--batch_size=2",
                                       "--save_checkpoint=false"};
  const std::string said = run(on_simaccel(tiny_act("pusht_sim", out("run"), flags)), same_numbers());
  EXPECT_THAT(said, HasSubstr("precision: fp16 autocast, gradient scaler at 1024, "));
  const std::vector<double> losses = column(out("run"), "loss");
  EXPECT_LT(losses.back(), losses.front());
}

}  // namespace
}  // namespace lerobot::test
