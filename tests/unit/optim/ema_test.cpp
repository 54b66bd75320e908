#include "host/optim/ema.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <boost/json/value.hpp>
#include <cstring>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/checkpoint/loader.h"
#include "host/checkpoint/writer.h"
#include "host/config/load.h"
#include "host/policy/policy.h"
#include "tests/support/scratch.h"

namespace lerobot::optim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Tensors = OrderedMap<at::Tensor>;

/// What diffusers did over 14 updates of three weights, under several settings.
const boost::json::value& golden() {
  static const auto value = json::read_file(std::string(LEROBOT_TEST_DATA) + "/goldens/ema.json", ErrorKind::kIo);
  return value;
}

std::vector<at::Tensor> tensors(const boost::json::value& values) {
  std::vector<at::Tensor> out;
  for (const boost::json::value& list : values.as_array()) {
    std::vector<double> numbers;
    for (const boost::json::value& number : list.as_array()) numbers.push_back(number.as_double());
    std::vector<std::int64_t> shape;
    for (const auto& n : golden().at("shapes").as_array()[out.size()].as_array()) shape.push_back(n.as_int64());
    out.push_back(at::tensor(numbers, at::kFloat).reshape(shape));
  }
  return out;
}

config::EmaConfig config_of(const boost::json::value& flags) {
  config::EmaConfig config;
  for (const auto& [key, value] : flags.as_object()) {
    if (key == "decay") config.decay = value.as_double();
    if (key == "min_decay") config.min_decay = value.as_double();
    if (key == "max_decay") config.max_decay = value.as_double();
    if (key == "inv_gamma") config.inv_gamma = value.as_double();
    if (key == "power") config.power = value.as_double();
    if (key == "update_after_step") config.update_after_step = value.as_int64();
  }
  return config;
}

Tensors named(const std::vector<at::Tensor>& tensors) {
  Tensors out;
  for (const at::Tensor& tensor : tensors) {
    out.append("weight." + std::to_string(out.size()), tensor.clone().set_requires_grad(true));
  }
  return out;
}

void assign(const Tensors& parameters, const std::vector<at::Tensor>& values) {
  std::size_t i = 0;
  for (const auto& [name, parameter] : parameters) parameter.detach().copy_(values[i++]);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() &&
         std::memcmp(a.contiguous().const_data_ptr(), b.contiguous().const_data_ptr(), a.nbytes()) == 0;
}

Tensors copy(const Tensors& tensors) {
  Tensors out;
  for (const auto& [name, tensor] : tensors) out.append(name, tensor.clone());
  return out;
}

void expect_same_bits(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  auto other = b.begin();
  for (const auto& [name, tensor] : a) {
    EXPECT_EQ(name, other->first);
    EXPECT_TRUE(same_bits(tensor, (other++)->second)) << name;
  }
}

/// The state of the weights after each of the golden's updates; the first is before any.
std::vector<at::Tensor> weights(std::size_t update) {
  return tensors(golden().at("weights").as_array()[update]);
}

constexpr std::size_t kUpdates = 14;

TEST(Ema, FollowsDiffusersBitForBit) {
  for (const boost::json::value& run : golden().at("cases").as_array()) {
    const Tensors parameters = named(weights(0));
    Ema ema(parameters, config_of(run.at("config")), /*float64=*/true);
    EXPECT_EQ(ema.decay().item<double>(), 0.0);
    for (std::size_t i = 0; i < kUpdates; ++i) {
      assign(parameters, weights(i + 1));
      ema.step();
      EXPECT_EQ(ema.optimization_step().item<std::int64_t>(), static_cast<std::int64_t>(i + 1));
      EXPECT_NEAR(ema.decay().item<double>(), run.at("decays").as_array()[i].as_double(), 1e-15);
      const std::vector<at::Tensor> expected = tensors(run.at("shadows").as_array()[i]);
      std::size_t index = 0;
      for (const auto& [name, average] : ema.shadow()) {
        EXPECT_TRUE(average.equal(expected[index++])) << run.at("name") << ", update " << i + 1 << ", " << name;
      }
    }
  }
}

TEST(Ema, WithoutFloat64StaysWithinRounding) {
  for (const boost::json::value& run : golden().at("cases").as_array()) {
    const Tensors parameters = named(weights(0));
    Ema ema(parameters, config_of(run.at("config")), /*float64=*/false);
    for (std::size_t i = 0; i < kUpdates; ++i) {
      assign(parameters, weights(i + 1));
      ema.step();
      EXPECT_EQ(ema.decay().scalar_type(), at::kFloat);
      EXPECT_NEAR(ema.decay().item<double>(), run.at("decays").as_array()[i].as_double(), 2e-7);
      const std::vector<at::Tensor> expected = tensors(run.at("shadows").as_array()[i]);
      std::size_t index = 0;
      for (const auto& [name, average] : ema.shadow()) {
        EXPECT_TRUE(average.allclose(expected[index++], /*rtol=*/1e-6, /*atol=*/0)) << run.at("name") << ", " << i;
      }
    }
  }
}

TEST(Ema, ALongRunReachesTheLargestDecay) {
  for (const bool float64 : {true, false}) {
    const Tensors parameters = named({at::ones({2})});
    Ema ema(parameters, {}, float64);
    checkpoint::EmaState state = ema.state();
    state.optimization_step = std::int64_t{1} << 40U;
    ema.load(state, "here");
    assign(parameters, {at::full({2}, 2.0)});
    ema.step();
    EXPECT_NEAR(ema.decay().item<double>(), 0.9999, 1e-7);
    EXPECT_EQ(ema.shadow().begin()->second[0].item<float>(), 1.0F + static_cast<float>(1 - 0.9999));
  }
}

TEST(Ema, ASkippedUpdateLeavesEveryBitAsItIs) {
  const boost::json::value& run = golden().at("cases").as_array()[0];
  for (const bool float64 : {true, false}) {
    const Tensors parameters = named(weights(0));
    Ema ema(parameters, {}, float64);
    Ema undisturbed(parameters, {}, float64);
    for (std::size_t i = 0; i < kUpdates; ++i) {
      if (i == 0 || i == 1 || i == 7) {
        const checkpoint::EmaState before = ema.state();
        const Tensors averages = copy(before.shadow);
        const double decay = ema.decay().item<double>();
        ema.step(at::ones({}, at::kFloat));
        EXPECT_EQ(ema.state().optimization_step, before.optimization_step);
        EXPECT_EQ(ema.decay().item<double>(), decay);
        expect_same_bits(ema.shadow(), averages);
      }
      assign(parameters, weights(i + 1));
      ema.step(at::full({1}, 0.0, at::kFloat));
      undisturbed.step();
      expect_same_bits(ema.shadow(), undisturbed.shadow());
    }
    EXPECT_NEAR(ema.decay().item<double>(), run.at("decays").as_array()[kUpdates - 1].as_double(), 2e-7);
  }
}

TEST(Ema, ASkippedUpdateKeepsTheSignOfZero) {
  const Tensors parameters = named({at::tensor({-0.0F, -0.0F, 0.0F})});
  Ema ema(parameters, {}, true);
  const Tensors before = copy(ema.shadow());
  assign(parameters, {at::tensor({1.0F, -1.0F, 1.0F})});
  ema.step(at::ones({}, at::kFloat));
  expect_same_bits(ema.shadow(), before);
}

TEST(Ema, IsAnExactCopyUntilTheDecayBegins) {
  config::EmaConfig config;
  config.update_after_step = 1;
  const Tensors parameters = named({at::tensor({1e8F, 1.0F, 0.0F, 3.0F})});
  Ema ema(parameters, config, true);
  assign(parameters, {at::tensor({1.2345e-7F, 1e20F, -0.0F, 0.1F})});  // 1e8 - (1e8 - 1.2345e-7) is 0
  ema.step();
  expect_same_bits(ema.shadow(), copy(parameters));
  ema.step();
  expect_same_bits(ema.shadow(), copy(parameters));
}

TEST(Ema, OfManyLargeWeightsIsThatOfEach) {
  constexpr std::int64_t kLarge = 3'000'000;  // two of them do not fit into one piece
  std::vector<at::Tensor> start{at::rand({7}), at::rand({kLarge}), at::rand({1000, kLarge / 1000}),
                                at::rand({5}).to(at::kHalf), at::rand({2, 2})};
  std::vector<at::Tensor> changed;
  for (const at::Tensor& weight : start) changed.push_back(weight * 1.25);
  config::EmaConfig config;
  config.decay = 0.75;
  const Tensors parameters = named(start);
  Ema ema(parameters, config, true);
  ema.step();
  assign(parameters, changed);
  ema.step();
  std::size_t i = 0;
  for (const auto& [name, average] : ema.shadow()) {
    EXPECT_EQ(average.scalar_type(), start[i].scalar_type());
    EXPECT_TRUE(average.equal(start[i] - 0.25 * (start[i] - changed[i]))) << name;
    ++i;
  }
}

/// A run of `updates` under the golden's first settings.
struct Training {
  Tensors parameters = named(weights(0));
  Ema ema;
  std::size_t done = 0;
  explicit Training(const config::EmaConfig& config = {}) : ema(parameters, config, true) {}
  void advance(std::size_t updates) {
    for (; updates > 0; --updates) {
      assign(parameters, weights(++done));
      ema.step();
    }
  }
};

TEST(Ema, SavedAndLoadedGoesOnBitForBit) {
  Training whole;
  whole.advance(6);
  checkpoint::EmaState saved = whole.ema.state();
  saved.shadow = copy(saved.shadow);
  whole.advance(5);
  Training resumed;
  resumed.done = 6;
  resumed.ema.load(saved, "here");
  EXPECT_EQ(resumed.ema.optimization_step().item<std::int64_t>(), 6);
  resumed.advance(5);
  expect_same_bits(resumed.ema.shadow(), whole.ema.shadow());
}

using EmaOfAPolicy = ScratchTest;

TEST_F(EmaOfAPolicy, GoesThroughACheckpoint) {
  const std::string folder = std::string(LEROBOT_TEST_DATA) + "/checkpoints/act_keypoints/checkpoints/000020";
  checkpoint::Checkpoint checkpoint = checkpoint::load(folder);
  const auto policy =
      policy::make_policy(config::read_policy_config(folder + "/pretrained_model/config.json"), at::kCPU);
  policy::load_state(*policy, checkpoint.model);
  Ema ema(policy->parameters(), {}, true);
  for (int update = 0; update < 3; ++update) {
    for (const auto& [name, parameter] : policy->parameters()) parameter.detach().add_(0.01);
    ema.step();
  }
  checkpoint.model = policy->state_dict();
  checkpoint.ema = ema.state();
  const auto saved = checkpoint::CheckpointWriter(scratch(), 100).save(checkpoint);
  EXPECT_EQ(checkpoint::find_defect(saved), std::nullopt);

  Ema resumed(policy->parameters(), {}, true);
  resumed.load(checkpoint::load(saved).ema.value(), saved.string());
  expect_same_bits(resumed.shadow(), ema.shadow());
  EXPECT_EQ(resumed.state().optimization_step, 3);
  const Tensors averages = checkpoint::load_model(saved / checkpoint::kPretrainedModelEma);
  for (const auto& [name, average] : ema.shadow()) EXPECT_TRUE(same_bits(*averages.find(name), average)) << name;
}

TEST(Ema, TheSettingsItWasSavedWithWinWithAWarning) {
  config::EmaConfig other;
  other.decay = 0.5;
  Training first(other);
  first.advance(3);
  const checkpoint::EmaState saved = first.ema.state();
  Training resumed;
  ::testing::internal::CaptureStderr();
  resumed.ema.load(saved, "outputs/checkpoints/000003");
  log::flush();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("outputs/checkpoints/000003"), HasSubstr("max_decay 0.5 (not 0.9999)"),
                    HasSubstr("min_decay 0.5 (not 0.0)"), ::testing::Not(HasSubstr("power"))));
  EXPECT_EQ(resumed.ema.decay().item<double>(), 0.5);
  ::testing::internal::CaptureStderr();
  resumed.ema.load(saved, "here");
  log::flush();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Ema, AStateOfAnotherPolicyIsRefusedAndNothingChanges) {
  Training run;
  run.advance(2);
  const checkpoint::EmaState good = run.ema.state();
  const Tensors before = copy(good.shadow);
  const auto refusal = [&](const Tensors& shadow) -> std::string {
    checkpoint::EmaState state = good;
    state.optimization_step = 99;
    state.shadow = shadow;
    try {
      run.ema.load(state, "here");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      return error.what();
    }
    return "loaded";
  };
  Tensors changed = copy(before);
  for (auto& [name, tensor] : changed) tensor.fill_(7);
  Tensors other = changed;
  other.append("more", at::ones({1}));
  EXPECT_THAT(refusal(other), HasSubstr("here: the average of the weights has 4 tensors, the policy 3"));
  other = changed;
  other["weight.2"] = at::ones({2});
  EXPECT_THAT(refusal(other), HasSubstr("the average of weight.2: found Float of shape (2), needed Float of ()"));
  other["weight.2"] = at::ones({}, at::kDouble);
  EXPECT_THAT(refusal(other), HasSubstr("found Double of shape ()"));
  EXPECT_EQ(run.ema.state().optimization_step, 2);
  expect_same_bits(run.ema.shadow(), before);
}

}  // namespace
}  // namespace lerobot::optim
