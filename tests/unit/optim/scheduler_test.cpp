#include "host/optim/scheduler.h"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"

namespace lerobot::optim {
namespace {

using ::testing::HasSubstr;

boost::json::value golden() {
  return json::read_file(format("{}/goldens/schedulers.json", LEROBOT_TEST_DATA), ErrorKind::kData);
}

config::SchedulerConfig scheduler_config(const boost::json::object& test) {
  const std::string type(test.at("type").as_string());
  const boost::json::object& c = test.at("config").as_object();
  const std::int64_t warmup = c.at("num_warmup_steps").as_int64();
  if (type == "diffuser") return config::DiffuserSchedulerConfig{warmup, std::string(c.at("name").as_string())};
  if (type == "vqbet") {
    return config::VqBetSchedulerConfig{warmup, c.at("num_vqvae_training_steps").as_int64(),
                                        c.at("num_cycles").as_double()};
  }
  if (type == "constant_with_warmup") return config::ConstantWithWarmupSchedulerConfig{warmup};
  if (type == "cosine_annealing_with_warmup") return config::CosineAnnealingWithWarmupSchedulerConfig{warmup};
  return config::CosineDecayWithWarmupSchedulerConfig{warmup, c.at("num_decay_steps").as_int64(),
                                                      c.at("peak_lr").as_double(), c.at("decay_lr").as_double()};
}

std::unique_ptr<Optimizer> one_parameter(double lr) {
  config::SgdConfig config;
  config.lr = lr;
  return make_optimizer(config, {{{{"weight", at::zeros({1})}}, std::nullopt}});
}

TEST(LrScheduler, GivesPythonsRatesAndStateForEverySchedule) {
  const boost::json::value file = golden();
  ASSERT_GE(file.at("cases").as_object().size(), 13U);
  for (const auto& [label, value] : file.at("cases").as_object()) {
    const boost::json::object& test = value.as_object();
    const auto optimizer = one_parameter(test.at("base_lr").as_double());
    const auto scheduler = make_scheduler(scheduler_config(test), *optimizer, test.at("num_training_steps").as_int64());
    for (const boost::json::value& lr : test.at("lr").as_array()) {
      EXPECT_DOUBLE_EQ(optimizer->groups()[0].lr, lr.as_double()) << label;
      scheduler->step();
    }
    const boost::json::value& expected = test.at("state_after_100");
    const boost::json::value found = scheduler->state_json();
    EXPECT_DOUBLE_EQ(found.at("_last_lr").at(0).as_double(), expected.at("_last_lr").at(0).as_double()) << label;
    EXPECT_EQ(found.at("last_epoch").as_int64(), expected.at("last_epoch").as_int64());
    EXPECT_EQ(found.at("_step_count").as_int64(), expected.at("_step_count").as_int64());
  }
}

TEST(LrScheduler, WritesAndReadsPythonsFile) {
  const std::string path = format(
      "{}/checkpoints/diffusion_keypoints/checkpoints/000020/training_state/scheduler_state.json", LEROBOT_TEST_DATA);
  const auto optimizer = one_parameter(1e-4);
  const auto make = [&] { return make_scheduler(config::DiffuserSchedulerConfig{5, "cosine"}, *optimizer, 30); };
  const auto scheduler = make();
  const std::string text = read_text(path, ErrorKind::kData);
  scheduler->load(json::parse(text, path, ErrorKind::kCheckpoint), path);
  EXPECT_EQ(json::write(scheduler->state_json()), text);

  // A run that goes on has the rates of one that never stopped.
  scheduler->step();
  const double resumed = optimizer->groups()[0].lr;
  optimizer->groups()[0].lr = 1e-4;
  const auto straight = make();
  for (int i = 0; i < 21; ++i) straight->step();
  EXPECT_DOUBLE_EQ(resumed, optimizer->groups()[0].lr);
}

TEST(LrScheduler, ResumedAnywhereGivesTheRatesOfAStraightRunToTheBit) {
  const auto make = [](Optimizer& optimizer) {
    return make_scheduler(config::CosineAnnealingWithWarmupSchedulerConfig{5}, optimizer, 40, 80);
  };
  const auto straight = one_parameter(1e-4);
  const auto scheduler = make(*straight);
  std::vector<double> rates;
  std::vector<boost::json::value> states;
  for (int i = 0; i < 80; ++i) {  // beyond its length
    rates.push_back(straight->groups()[0].lr);
    states.push_back(scheduler->state_json());
    scheduler->step();
  }
  EXPECT_EQ(rates[40], 0.0);
  EXPECT_EQ(rates[79], 0.0) << "it stays where it ended";
  for (const std::size_t split : {1U, 5U, 20U, 39U}) {
    const auto optimizer = one_parameter(1e-4);
    const auto resumed = make(*optimizer);
    resumed->load(states[split], "x.json");
    optimizer->groups()[0].lr = rates[split];  // as its own state has it
    for (std::size_t i = split; i < 80; ++i, resumed->step()) ASSERT_EQ(optimizer->groups()[0].lr, rates[i]) << i;
  }
}

TEST(LrScheduler, KnowsWhichSchedulesFollowTheRunsLength) {
  EXPECT_TRUE(follows_length(config::CosineAnnealingWithWarmupSchedulerConfig{5}));
  EXPECT_TRUE(follows_length(config::DiffuserSchedulerConfig{5, "linear"}));
  EXPECT_FALSE(follows_length(config::DiffuserSchedulerConfig{5, "constant_with_warmup"}));
  EXPECT_FALSE(follows_length(config::ConstantWithWarmupSchedulerConfig{5}));
}

TEST(LrScheduler, RefusesAStateOfAnotherForm) {
  const auto optimizer = one_parameter(1e-4);
  const auto scheduler = make_scheduler(config::ConstantWithWarmupSchedulerConfig{3}, *optimizer, 10);
  boost::json::value state = scheduler->state_json();
  state.at("base_lrs").as_array()[0] = 1;
  EXPECT_THROW(scheduler->load(state, "x.json"), Error);
  state = scheduler->state_json();
  state.as_object().erase("_is_initial");
  try {
    scheduler->load(state, "x.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("_is_initial"));
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  }
}

TEST(LrScheduler, RefusesAScheduleItCannotBuild) {
  const auto optimizer = one_parameter(1e-4);
  EXPECT_THROW(make_scheduler(config::DiffuserSchedulerConfig{10, "piecewise_constant"}, *optimizer, 10), Error);
  EXPECT_THROW(make_scheduler(config::DiffuserSchedulerConfig{std::nullopt, "cosine"}, *optimizer, 10), Error);
}

TEST(LrScheduler, MultipliesEachGroupsOwnRate) {
  config::AdamWConfig config;
  config.lr = 1e-3;
  const auto optimizer =
      make_optimizer(config, {{{{"a", at::zeros({1})}}, std::nullopt}, {{{"b", at::zeros({1})}}, 1e-5}});
  const auto scheduler = make_scheduler(config::ConstantWithWarmupSchedulerConfig{4}, *optimizer, 10);
  scheduler->step();
  EXPECT_DOUBLE_EQ(optimizer->groups()[0].lr, 0.25e-3);
  EXPECT_DOUBLE_EQ(optimizer->groups()[1].lr, 0.25e-5);
}

}  // namespace
}  // namespace lerobot::optim
