#include "host/optim/optimizer.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <limits>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/checkpoint/tensor_file.h"
#include "host/config/load.h"
#include "host/policy/policy.h"

namespace lerobot::optim {
namespace {

using policy::ParameterGroup;
using ::testing::HasSubstr;

std::string data(const std::string& path) {
  return format("{}/checkpoints/{}", LEROBOT_TEST_DATA, path);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

at::Tensor parameter(std::vector<double> values) {
  return at::tensor(values, at::kFloat).set_requires_grad(true);
}

void set_gradient(const at::Tensor& parameter, std::vector<double> values) {
  parameter.mutable_grad() = at::tensor(values, at::kFloat);
}

std::vector<float> values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

// The checkpoint's policy, newly made.
std::unique_ptr<policy::Policy> keypoints_policy() {
  const std::string file = data("act_keypoints/checkpoints/000020/pretrained_model/config.json");
  return policy::make_policy(config::read_policy_config(file), at::kCPU);
}

config::AdamWConfig act_preset() {
  config::AdamWConfig config;
  config.lr = 1e-5;
  config.weight_decay = 1e-4;
  return config;
}

struct Saved {
  OrderedMap<at::Tensor> tensors;
  boost::json::value groups;
  std::string groups_text;
};

Saved saved() {
  const std::string folder = data("act_keypoints/checkpoints/000020/training_state");
  Saved saved;
  saved.tensors = checkpoint::read_tensors(folder + "/optimizer_state.safetensors");
  saved.groups_text = read_text(folder + "/optimizer_param_groups.json", ErrorKind::kData);
  saved.groups = json::parse(saved.groups_text, "optimizer_param_groups.json", ErrorKind::kCheckpoint);
  return saved;
}

TEST(Optimizer, ReadsPythonsCheckpointAndWritesTheSame) {
  const auto policy = keypoints_policy();
  const auto optimizer = make_optimizer(act_preset(), policy->optim_groups());
  const Saved file = saved();
  EXPECT_EQ(json::write(optimizer->param_groups_json()), file.groups_text);
  optimizer->load(file.tensors, file.groups, "checkpoint 20");
  EXPECT_EQ(json::write(optimizer->param_groups_json()), file.groups_text);

  const OrderedMap<at::Tensor> state = optimizer->state_tensors();
  ASSERT_EQ(state.size(), file.tensors.size());
  for (const auto& [name, tensor] : state) EXPECT_TRUE(tensor.equal(*file.tensors.find(name))) << name;
  EXPECT_EQ(state.begin()->first, "state/0/step");
  EXPECT_EQ(state.begin()->second.dim(), 0);
  EXPECT_EQ(state.begin()->second.item<float>(), 20.0F);
}

TEST(Optimizer, WritesAdamsGroupsAsPythonDoesWithAScheduler) {
  const std::string text = read_text(
      data("diffusion_keypoints/checkpoints/000020/training_state/optimizer_param_groups.json"), ErrorKind::kData);
  const boost::json::value stored = json::parse(text, "groups", ErrorKind::kCheckpoint);
  std::vector<ParameterGroup> groups(1);
  for (std::size_t i = 0; i < stored.at(0).at("params").as_array().size(); ++i) {
    groups[0].parameters.emplace_back(format("p{}", i), at::zeros({1}));
  }
  config::AdamConfig config;
  config.lr = 1e-4;
  config.betas = {0.95, 0.999};
  config.weight_decay = 1e-6;
  const auto optimizer = make_optimizer(config, groups);
  optimizer->groups()[0].initial_lr = 0.5;  // as a scheduler does
  optimizer->load({}, stored, "checkpoint");
  EXPECT_EQ(json::write(optimizer->param_groups_json()), text);
  EXPECT_DOUBLE_EQ(*optimizer->groups()[0].initial_lr, 1e-4);
}

TEST(Optimizer, RefusesAStateThatDoesNotFitAndNamesThePlace) {
  const auto policy = keypoints_policy();
  const auto optimizer = make_optimizer(act_preset(), policy->optim_groups());
  const auto refuse = [&](const std::function<void(Saved&)>& spoil) {
    Saved file = saved();
    spoil(file);
    return message_of([&] { optimizer->load(file.tensors, file.groups, "checkpoint 20"); });
  };
  EXPECT_THAT(refuse([](Saved& f) { f.groups.as_array().pop_back(); }), HasSubstr("found 1 entries, needed 2"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).as_object().erase("fused"); }), HasSubstr("found no key fused"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).as_object()["extra"] = 1; }), HasSubstr("the key extra"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).at("lr") = 0; }), HasSubstr("[0].lr: found int64, needed double"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).at("foreach") = false; }),
              HasSubstr("[0].foreach: found bool, needed null"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).at("betas").as_array().emplace_back(0.5); }),
              HasSubstr("[0].betas: found 3"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).at("amsgrad") = true; }),
              HasSubstr("[0].amsgrad: found true, needed false"));
  EXPECT_THAT(refuse([](Saved& f) { f.groups.at(0).at("params").at(3) = 4; }), HasSubstr("[0].params"));
  EXPECT_THAT(refuse([](Saved& f) { f.tensors["state/3/exp_avg"] = at::zeros({65}); }),
              HasSubstr("state/3/exp_avg: found Float of shape (65), needed Float of (64)"));
  EXPECT_THAT(refuse([](Saved& f) { f.tensors["state/999/exp_avg"] = at::zeros({1}); }),
              HasSubstr("found 400 optimizer tensors, of which 399 fit"));
  EXPECT_THAT(refuse([](Saved& f) {
                OrderedMap<at::Tensor> rest;
                for (const auto& [name, tensor] : f.tensors) {
                  if (name != "state/7/step") rest.append(name, tensor);
                }
                f.tensors = rest;
              }),
              HasSubstr("state/7: found 2 tensors, needed 3"));
  EXPECT_TRUE(optimizer->state_tensors().empty());
}

// One parameter, by hand: w = 1, gradient 0.5, lr 0.1, weight decay 0.1.
TEST(Adam, AddsWeightDecayToTheGradient) {
  const at::Tensor w = parameter({1.0});
  config::AdamConfig config;
  config.lr = 0.1;
  config.weight_decay = 0.1;
  const auto optimizer = make_optimizer(config, {{{{"w", w}}, std::nullopt}});
  set_gradient(w, {0.5});
  optimizer->step();
  EXPECT_NEAR(w.item<double>(), 1.0 - 0.1, 1e-6);  // m / sqrt(v) is the gradient's sign in the first update
  EXPECT_NEAR(optimizer->state_tensors().find("state/0/exp_avg")->item<double>(), 0.1 * 0.6, 1e-7);
}

TEST(AdamW, ShrinksTheParameterApartFromTheGradient) {
  const at::Tensor w = parameter({1.0});
  config::AdamWConfig config;
  config.lr = 0.1;
  config.weight_decay = 0.1;
  const auto optimizer = make_optimizer(config, {{{{"w", w}}, std::nullopt}});
  set_gradient(w, {0.5});
  optimizer->step();
  EXPECT_NEAR(w.item<double>(), 1.0 * (1 - 0.1 * 0.1) - 0.1, 1e-6);
  EXPECT_NEAR(optimizer->state_tensors().find("state/0/exp_avg")->item<double>(), 0.1 * 0.5, 1e-7);
}

TEST(AdamW, LeavesParametersWithoutAGradientAndHasNoStateForThem) {
  const at::Tensor used = parameter({1.0}), unused = parameter({2.0});
  const auto optimizer = make_optimizer(config::AdamWConfig{}, {{{{"used", used}, {"unused", unused}}, std::nullopt}});
  set_gradient(used, {1.0});
  optimizer->step();
  EXPECT_EQ(unused.item<double>(), 2.0);
  EXPECT_EQ(optimizer->state_tensors().size(), 3U);
  EXPECT_FALSE(optimizer->state_tensors().contains("state/1/step"));
  optimizer->zero_grad();
  EXPECT_FALSE(used.grad().defined());
}

TEST(AdamW, AnOverflowedUpdateChangesNothingAndDoesNotCount) {
  const at::Tensor w = parameter({1.0, -2.0});
  const auto optimizer = make_optimizer(config::AdamWConfig{}, {{{{"w", w}}, std::nullopt}});
  set_gradient(w, {1.0, 1.0});
  optimizer->step(at::zeros({1}));
  const std::vector<float> before = values(w);
  EXPECT_NE(before, (std::vector<float>{1.0F, -2.0F}));
  set_gradient(w, {1.0, std::numeric_limits<double>::infinity()});
  optimizer->step(at::ones({1}));
  EXPECT_EQ(values(w), before);
  EXPECT_EQ(optimizer->state_tensors().find("state/0/step")->item<float>(), 1.0F);
  EXPECT_NEAR(optimizer->state_tensors().find("state/0/exp_avg")->sum().item<double>(), 0.2, 1e-6);
}

// torch.optim.SGD: b = g at first, then b = momentum b + (1 - dampening) g; nesterov steps along g + momentum b.
TEST(Sgd, FollowsMomentumDampeningAndWeightDecay) {
  const at::Tensor w = parameter({1.0});
  config::SgdConfig config;
  config.lr = 0.1;
  config.momentum = 0.9;
  config.dampening = 0.5;
  config.weight_decay = 0.1;
  const auto optimizer = make_optimizer(config, {{{{"w", w}}, std::nullopt}});
  double expected = 1.0, buffer = 0;
  for (int i = 0; i < 3; ++i) {
    set_gradient(w, {2.0});
    optimizer->step();
    const double gradient = 2.0 + 0.1 * expected;
    buffer = i == 0 ? gradient : 0.9 * buffer + 0.5 * gradient;
    expected -= 0.1 * buffer;
    EXPECT_NEAR(w.item<double>(), expected, 1e-6) << i;
  }
  EXPECT_NEAR(optimizer->state_tensors().find("state/0/momentum_buffer")->item<double>(), buffer, 1e-6);
}

TEST(Sgd, TakesNesterovsStep) {
  const at::Tensor w = parameter({1.0});
  config::SgdConfig config;
  config.lr = 0.1;
  config.momentum = 0.5;
  config.nesterov = true;
  const auto optimizer = make_optimizer(config, {{{{"w", w}}, std::nullopt}});
  double expected = 1.0, buffer = 0;
  for (int i = 0; i < 2; ++i) {
    set_gradient(w, {1.0});
    optimizer->step();
    buffer = i == 0 ? 1.0 : 0.5 * buffer + 1.0;
    expected -= 0.1 * (1.0 + 0.5 * buffer);
    EXPECT_NEAR(w.item<double>(), expected, 1e-6) << i;
  }
  config.dampening = 0.1;
  EXPECT_THAT(message_of([&] { make_optimizer(config, {}); }), HasSubstr("--optimizer.nesterov"));
}

TEST(Sgd, BeginsItsMomentumWithTheFirstUpdateThatLands) {
  const at::Tensor w = parameter({1.0});
  config::SgdConfig config;
  config.lr = 0.1;
  config.momentum = 0.9;
  config.dampening = 0.5;
  const auto optimizer = make_optimizer(config, {{{{"w", w}}, std::nullopt}});
  set_gradient(w, {1.0});
  optimizer->step(at::ones({1}));
  EXPECT_EQ(w.item<double>(), 1.0);
  EXPECT_TRUE(optimizer->state_tensors().empty());
  optimizer->step(at::zeros({1}));
  EXPECT_NEAR(w.item<double>(), 0.9, 1e-6);
}

TEST(Sgd, WritesTorchsGroupsAndHasNoStateWithoutMomentum) {
  const at::Tensor w = parameter({1.0});
  const auto optimizer = make_optimizer(config::SgdConfig{}, {{{{"w", w}}, std::nullopt}});
  set_gradient(w, {1.0});
  optimizer->step();
  EXPECT_TRUE(optimizer->state_tensors().empty());
  EXPECT_EQ(json::write_line(optimizer->param_groups_json()),
            R"([{"lr":0.001,"momentum":0.0,"dampening":0.0,"weight_decay":0.0,"nesterov":false,"maximize":false,)"
            R"("foreach":null,"differentiable":false,"fused":null,"params":[0]}])");
}

TEST(ClipGradNorm, ScalesGradientsDownToTheLimitAndReturnsTheNormBefore) {
  const at::Tensor a = parameter({0, 0}), b = parameter({0}), none = parameter({0});
  set_gradient(a, {3, 0});
  set_gradient(b, {4});
  EXPECT_FLOAT_EQ(clip_grad_norm({a, b, none}, 10.0).item<float>(), 5.0F);
  EXPECT_EQ(values(a.grad()), (std::vector<float>{3, 0}));
  EXPECT_FLOAT_EQ(clip_grad_norm({a, b, none}, 1.0).item<float>(), 5.0F);
  EXPECT_NEAR(a.grad()[0].item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(b.grad()[0].item<double>(), 0.8, 1e-6);
  EXPECT_FLOAT_EQ(clip_grad_norm({a, b}, std::numeric_limits<double>::infinity()).item<float>(), 1.0F);
  EXPECT_NEAR(b.grad()[0].item<double>(), 0.8, 1e-6);
  EXPECT_EQ(clip_grad_norm({none}, 1.0).item<float>(), 0.0F);
}

}  // namespace
}  // namespace lerobot::optim
