// One fixed batch through a small ACT, with and without a camera: what Python LeRobot computed for loss, gradients,
// five updates and inference. Tolerances: what two runs of Python differ by, and some more.

#include <ATen/autocast_mode.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <boost/json/array.hpp>

#include "host/base/format.h"
#include "host/optim/optimizer.h"
#include "tests/parity/policy/golden.h"

namespace lerobot::policy {
namespace {

using boost::json::object;
using golden::Golden;
using golden::kept;

class ActGolden : public ::testing::TestWithParam<std::tuple<const char*, Kernels>> {
 protected:
  Golden golden_{std::get<0>(GetParam())};
  Kernels kernels_ = std::get<1>(GetParam());

  void expect_loss(const Loss& loss, const object& expected, double tolerance) {
    const double total = expected.at("loss").as_double();
    EXPECT_NEAR(loss.total.item<double>(), total, tolerance * total);
    for (const auto& [name, part] : loss.parts) {
      const double value = expected.at(name).as_double();
      EXPECT_NEAR(part.item<double>(), value, tolerance * value) << name;
    }
  }
  double gradient_norm(const Policy& policy) {
    double squares = 0;
    for (const auto& [name, tensor] : policy.parameters()) {
      if (tensor.grad().defined()) squares += std::pow(golden::norm(tensor.grad()), 2);
    }
    return std::sqrt(squares);
  }
};

TEST_P(ActGolden, LossAndEveryGradientArePythons) {
  const auto policy = golden_.policy(golden_.config(), kernels_);
  const Loss loss = policy->forward(golden_.batch());
  expect_loss(loss, golden_.about().at("forward").as_object(), 1e-5);
  loss.total.backward();

  const object& notes = golden_.about().at("gradients").as_object();
  double largest = 0;
  for (const auto& [name, note] : notes) largest = std::max(largest, note.at("norm").as_double());
  const OrderedMap<at::Tensor> gradients = golden_.file("gradients");
  // An activation so near zero that rounding decides its ReLU: images scaled by 1 + 1e-7 move the reference's gradient
  // of layer4.1.conv2 by 3e-4.
  const double bound = kernels_ == Kernels::kFast ? 1e-3 : 1e-4;
  for (const auto& [name, parameter] : policy->parameters()) {
    const object& note = notes.at(name).as_object();
    const at::Tensor found = kept(parameter.grad(), note);
    // A gradient that is zero but for rounding has nothing to compare but its size.
    if (note.at("norm").as_double() > 1e-6 * largest) {
      EXPECT_LT(golden::relative_difference(found, *gradients.find(name)), bound) << name;
      EXPECT_NEAR(golden::norm(parameter.grad()), note.at("norm").as_double(), 1e-4 * note.at("norm").as_double())
          << name;
    } else {
      EXPECT_LT(golden::norm(parameter.grad()), 1e-6 * largest) << name;
    }
  }
}

class ReferenceGolden : public ActGolden {};  // fast kernels are for float32

TEST_P(ReferenceGolden, LossUnderBfloat16AutocastIsPythons) {
  const auto policy = golden_.policy(golden_.config(), kernels_);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const Loss loss = policy->forward(golden_.batch());
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  const object& expected = golden_.about().at("forward_bf16_autocast").as_object();
  expect_loss(loss, expected, 1e-3);
  loss.total.backward();
  EXPECT_NEAR(gradient_norm(*policy), expected.at("grad_norm").as_double(),
              1e-2 * expected.at("grad_norm").as_double());
}

TEST_P(ActGolden, VariantsHavePythonsLossAndGradientNorm) {
  for (const auto& [label, variant] : golden_.about().at("variants").as_object()) {
    config::ActConfig config = golden_.config();
    if (label == "use_vae_false") config.use_vae = false;
    if (label == "gelu") config.feedforward_activation = "gelu";
    const auto policy = golden_.policy(config, kernels_);
    const Loss loss = policy->forward(golden_.batch());
    expect_loss(loss, variant.as_object(), 1e-5);
    loss.total.backward();
    EXPECT_NEAR(gradient_norm(*policy), variant.at("grad_norm").as_double(), 1e-4 * variant.at("grad_norm").as_double())
        << label;
  }
}

class ActUpdates : public ActGolden {
 protected:
  /// How much further than the reference's rounding that of fast kernels may go in five large updates with a camera.
  double slack(double lr) const { return kernels_ == Kernels::kFast && lr > 1e-4 ? 4 : 1; }

  // Parameters whose gradient is rounding noise drift by up to one step of Adam per update; so do single elements.
  void expect_state(const Policy& policy, const std::string& label, int updates, double lr) {
    const object& notes =
        golden_.about().at("updates").at(label).at(format("after_{}", updates)).at("tensors").as_object();
    const OrderedMap<at::Tensor> expected = golden_.file(format("state_{}_after_{}", label, updates));
    const OrderedMap<at::Tensor> gradients = golden_.file("gradients");
    double largest = 0;
    for (const auto& [name, note] : golden_.about().at("gradients").as_object()) {
      largest = std::max(largest, note.at("absmax").as_double());
    }
    for (const auto& [name, parameter] : policy.parameters()) {
      const object& note = notes.at(name).as_object();
      const at::Tensor off = kept(parameter, note).to(at::kDouble).sub(*expected.find(name)).abs();
      EXPECT_LE(off.max().item<double>(), 2 * lr * updates) << name;
      const at::Tensor clear = off.masked_select(gradients.find(name)->abs().gt(1e-4 * largest));
      if (clear.numel() == 0) continue;
      EXPECT_LE(clear.max().item<double>(), slack(lr) * 0.1 * lr * updates) << name;
      EXPECT_LE(clear.square().mean().sqrt().item<double>(), slack(lr) * 1e-2 * lr * updates + 1e-7) << name;
    }
  }

  std::unique_ptr<optim::Optimizer> run(Policy& policy, const std::string& label, double lr) {
    std::vector<ParameterGroup> groups = policy.optim_groups();
    groups[1].lr = lr;
    config::AdamWConfig config;
    config.lr = lr;
    config.weight_decay = 1e-4;
    auto optimizer = optim::make_optimizer(config, std::move(groups), kernels_);
    const auto& updates = golden_.about().at("updates").at(label).at("updates").as_array();
    for (int i = 0; i < 5; ++i) {
      const Loss loss = policy.forward(golden_.batch());
      loss.total.backward();
      const at::Tensor norm = optimizer->clip(10.0);
      optimizer->step();
      optimizer->zero_grad();
      // Five updates at 1e-3 amplify rounding to 3e-5 with a camera (two runs of Python differ by as much).
      expect_loss(loss, updates[i].as_object(), slack(lr) * 1e-4);
      const double expected = updates[i].at("grad_norm").as_double();
      EXPECT_NEAR(norm.item<double>(), expected, (i == 0 ? 1e-5 : 1e-3) * expected) << label << " update " << i;
      if (i == 0 || i == 4) expect_state(policy, label, i + 1, lr);
    }
    return optimizer;
  }
};

TEST_P(ActUpdates, WithThePresetArePythons) {
  const auto policy = golden_.policy(golden_.config(), kernels_);
  const auto optimizer = run(*policy, "preset", 1e-5);

  const object& notes = golden_.about().at("optimizer_preset_after_5").as_object();
  const OrderedMap<at::Tensor> moments = golden_.file("optimizer_preset_after_5");
  double largest = 0;
  for (const auto& [name, note] : notes) {
    if (name.ends_with(".exp_avg")) largest = std::max(largest, note.at("norm").as_double());
  }
  std::size_t compared = 0;
  for (const auto& [name, tensor] : optimizer->state_tensors()) {
    std::string key = name.substr(std::string("state/").size());
    key[key.find('/')] = '.';
    if (key.ends_with(".step")) {
      EXPECT_EQ(tensor.item<float>(), 5.0F);
      continue;
    }
    ++compared;
    const object& note = notes.at(key).as_object();
    const double scale = key.ends_with("_sq") ? largest * largest : largest;
    const double size = note.at("norm").as_double();
    if (size > 1e-5 * scale) {
      EXPECT_LT(golden::relative_difference(kept(tensor, note), *moments.find(key)), 1e-3) << name;
      EXPECT_NEAR(golden::norm(tensor), size, 1e-3 * size) << name;
    } else {
      EXPECT_LT(golden::norm(tensor), 1e-4 * scale) << name;
    }
  }
  EXPECT_EQ(compared, notes.size());
}

TEST_P(ActUpdates, WithALargeLearningRateArePythons) {
  const auto policy = golden_.policy(golden_.config(), kernels_);
  run(*policy, "lr_1e-3", 1e-3);
}

TEST_P(ActUpdates, TakeTheParametersInPythonsOrder) {
  const auto policy = golden_.policy(golden_.config(), kernels_);
  const auto& order = golden_.about().at("optimizer_order").as_array();
  const auto& sizes = golden_.about().at("optimizer_group_sizes").as_array();
  std::size_t index = 0, group = 0;
  for (const ParameterGroup& found : policy->optim_groups()) {
    EXPECT_EQ(static_cast<std::int64_t>(found.parameters.size()), sizes[group++].as_int64());
    for (const auto& [name, parameter] : found.parameters) EXPECT_EQ(name, order[index++].as_string());
  }
  EXPECT_EQ(index, order.size());
}

class ActInference : public ActGolden {
 protected:
  Batch observations() {
    Batch batch = golden_.batch();
    batch.erase("action");
    batch.erase("action_is_pad");
    return batch;
  }
};

TEST_P(ActInference, ChunkAndQueuedActionsArePythons) {
  const auto policy = golden_.policy(golden_.config(), kernels_);
  const OrderedMap<at::Tensor> expected = golden_.file("inference");
  const at::Tensor chunk = policy->predict_action_chunk(observations());
  EXPECT_LT(golden::largest_difference(chunk, *expected.find("chunk")), 1e-5);
  EXPECT_FALSE(chunk.requires_grad());
  policy->reset();
  std::vector<at::Tensor> actions;
  for (int i = 0; i < 3; ++i) actions.push_back(policy->select_action(observations()));
  EXPECT_LT(golden::largest_difference(at::stack(actions), *expected.find("select_action")), 1e-5);
}

TEST_P(ActInference, EnsembledActionsArePythons) {
  const OrderedMap<at::Tensor> expected = golden_.file("inference");
  TemporalEnsembler ensembler(0.01, 10);
  const at::Tensor& chunks = *expected.find("ensemble_chunks");
  for (std::int64_t i = 0; i < chunks.size(0); ++i) {
    EXPECT_LT(golden::largest_difference(ensembler.update(chunks[i]), (*expected.find("ensemble_actions"))[i]), 1e-6);
  }
}

const auto kPolicies = ::testing::Values("act_keypoints", "act_pusht");
const auto kReferenceOnly = ::testing::Combine(kPolicies, ::testing::Values(Kernels::kReference));
const auto kEither = ::testing::Combine(kPolicies, ::testing::Values(Kernels::kReference, Kernels::kFast));

std::string name_of(const ::testing::TestParamInfo<std::tuple<const char*, Kernels>>& info) {
  const auto& [policy, kernels] = info.param;
  return format("{}_{}", policy, kernels == Kernels::kFast ? "fast" : "reference");
}

INSTANTIATE_TEST_SUITE_P(Policies, ActGolden, kEither, name_of);
INSTANTIATE_TEST_SUITE_P(Policies, ReferenceGolden, kReferenceOnly, name_of);
INSTANTIATE_TEST_SUITE_P(Policies, ActUpdates, kEither, name_of);
INSTANTIATE_TEST_SUITE_P(Policies, ActInference, kEither, name_of);

}  // namespace
}  // namespace lerobot::policy
