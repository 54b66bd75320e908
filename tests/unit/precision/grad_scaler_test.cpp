// The loss scaler against torch.amp.GradScaler's recorded rounds (tests/data/goldens/grad_scaler.json), through the
// operations of plugins and through plain operators.
#include "host/precision/grad_scaler.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <limits>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/optim/optimizer.h"
#include "tests/support/plugin_in_process.h"

namespace lerobot::precision {
namespace {

namespace bj = boost::json;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Where the scaler's operations come from.
struct Way {
  const char* name;
  std::string library;
  std::function<void(lra_api&)> change;
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

void without_operations(lra_api& api) {
  api.scaler_unscale = nullptr;
  api.scaler_update = nullptr;
}

std::vector<Way> ways() {
  return {{"CpuPlugin", test::plugin_library("cpu"), {}},
          {"PlainOperators", test::plugin_library("cpu"), without_operations},
          {"Simaccel", LEROBOT_SIMACCEL_LIBRARY, {}},
          {"SimaccelPlainOperators", LEROBOT_SIMACCEL_LIBRARY, without_operations}};
}

/// Autograd counts the devices at the first backward pass of a process: those of a plugin must be there by then.
class EveryPluginHasStarted : public ::testing::Environment {
  void SetUp() override {
    for (const Way& way : ways()) test::start_in_process(way.library);
  }
};
[[maybe_unused]] auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new EveryPluginHasStarted);

std::vector<float> floats(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

/// Numbers of the golden, where text stands for what JSON has no number for.
std::vector<float> floats(const bj::value& list) {
  std::vector<float> values;
  for (const bj::value& value : list.as_array()) {
    if (value.is_string()) {
      const bj::string& text = value.get_string();
      values.push_back(text == "nan" ? std::nanf("") : text == "inf" ? kInf : -kInf);
    } else {
      values.push_back(static_cast<float>(value.to_number<double>()));
    }
  }
  return values;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  const auto equal = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

config::GradScalerConfig settings_of(const bj::object& arguments) {
  config::GradScalerConfig settings;
  const auto number = [&](const char* key, double& out) {
    if (const bj::value* value = arguments.if_contains(key)) out = value->to_number<double>();
  };
  number("init_scale", settings.init_scale);
  number("growth_factor", settings.growth_factor);
  number("backoff_factor", settings.backoff_factor);
  if (const bj::value* value = arguments.if_contains("growth_interval")) settings.growth_interval = value->as_int64();
  return settings;
}

class Scaler : public ::testing::TestWithParam<Way> {
 protected:
  std::unique_ptr<accel::Accelerator> accelerator_ = test::start_in_process(GetParam().library, GetParam().change);
  at::Device device_{accelerator_->torch_device()};

  at::Tensor parameter(const at::Tensor& values) const { return values.to(device_).set_requires_grad(true); }
};

/// The golden's problem: two parameters, an SGD, and the loss of step i.
struct Problem {
  explicit Problem(const at::Device& device)
      : w(at::tensor({1.0F, -2.0F, 0.5F}).to(device).set_requires_grad(true)),
        v(at::tensor({0.25F, 4.0F}).reshape({1, 2}).to(device).set_requires_grad(true)),
        weights(at::tensor({1.0F, 2.0F, 3.0F}).to(device)) {
    policy::ParameterGroup group;
    group.parameters = {{"w", w}, {"v", v}};
    config::SgdConfig sgd;
    sgd.lr = 0.1;
    sgd.momentum = 0;
    sgd.weight_decay = 0;
    optimizer = optim::make_optimizer(sgd, {group});
  }
  at::Tensor loss(std::size_t i, bool tiny) const {
    return w.mul(weights)
        .sum()
        .mul(static_cast<double>(i + 1))
        .add(v.mul(v).sum())
        .mul(tiny ? std::ldexp(1.0, -120) : 1);
  }

  at::Tensor w, v, weights;
  std::unique_ptr<optim::Optimizer> optimizer;
};

void replay(const bj::object& run, GradScaler& scaler, Problem& problem) {
  const bj::array& steps = run.at("steps").as_array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SCOPED_TRACE(format("{}, step {}", std::string_view(run.at("label").as_string()), i));
    const bj::object& golden = steps[i].as_object();
    const auto before = golden.at("scale_before").to_number<double>();
    problem.optimizer->zero_grad();
    const at::Tensor loss = problem.loss(i, before >= std::ldexp(1.0, 100));
    EXPECT_EQ(loss.item<float>(), static_cast<float>(golden.at("loss").to_number<double>()));
    scaler.scale(loss).backward();
    if (golden.at("overflow").is_string()) {
      problem.v.mutable_grad()[0][1].fill_(golden.at("overflow").as_string() == "inf" ? kInf : std::nanf(""));
    }
    const bj::array& scaled = golden.at("scaled_grads").as_array();
    EXPECT_TRUE(same(floats(problem.w.grad()), floats(scaled[0])));
    EXPECT_TRUE(same(floats(problem.v.grad()), floats(scaled[1])));
    scaler.unscale({problem.w, problem.v});
    const bj::array& unscaled = golden.at("unscaled_grads").as_array();
    EXPECT_TRUE(same(floats(problem.w.grad()), floats(unscaled[0])));
    EXPECT_TRUE(same(floats(problem.v.grad()), floats(unscaled[1])));
    if (scaler.enabled()) {
      EXPECT_EQ(scaler.found_inf()->item<float>(), golden.at("found_inf").as_double());
    } else {
      EXPECT_FALSE(scaler.found_inf());
    }
    problem.optimizer->step(scaler.found_inf());
    scaler.update();
    EXPECT_TRUE(same(floats(problem.w), floats(golden.at("w"))));
    EXPECT_TRUE(same(floats(problem.v), floats(golden.at("v"))));
    if (!scaler.enabled()) continue;
    EXPECT_EQ(scaler.current_scale().item<float>(), golden.at("scale").to_number<double>());
    EXPECT_EQ(scaler.growth_tracker().item<std::int32_t>(), golden.at("growth_tracker").as_int64());
  }
}

TEST_P(Scaler, FollowsTorchsStepByStep) {
  const bj::value golden =
      json::read_file(LEROBOT_TEST_DATA "/goldens/grad_scaler.json", ErrorKind::kData, json::NonFinite::kAccept);
  const bj::array& runs = golden.at("runs").as_array();
  ASSERT_EQ(runs.size(), 5U);
  for (const bj::value& run : runs) {
    const bj::object& arguments = run.at("arguments").as_object();
    GradScaler scaler(*accelerator_, device_, settings_of(arguments), !arguments.contains("enabled"));
    Problem problem(device_);
    replay(run.as_object(), scaler, problem);
    EXPECT_EQ(scaler.state_json(), run.at("state_dict"));
  }
}

TEST_P(Scaler, GoesOnFromItsSavedState) {
  const bj::value golden =
      json::read_file(LEROBOT_TEST_DATA "/goldens/grad_scaler.json", ErrorKind::kData, json::NonFinite::kAccept);
  const bj::object& run = golden.at("runs").as_array()[0].as_object();
  GradScaler straight(*accelerator_, device_, settings_of(run.at("arguments").as_object()), true);
  GradScaler resumed(*accelerator_, device_, {}, true);
  const at::Tensor w = parameter(at::tensor({1.0F}));
  const auto one_round = [&](GradScaler& scaler, bool overflow) {
    w.mutable_grad() = at::tensor({overflow ? kInf : 1.0F}).to(device_);
    scaler.unscale({w});
    scaler.update();
    return bj::object{{"state", scaler.state_json()}};
  };
  for (const bool overflow : {false, false}) one_round(straight, overflow);
  resumed.load(straight.state_json(), "scaler_state.json");
  // The third good update in a row grows the scale, in the middle of whose interval the state was saved.
  for (const bool overflow : {false, true, false, false, false}) {
    EXPECT_EQ(one_round(resumed, overflow), one_round(straight, overflow));
  }
  EXPECT_EQ(straight.current_scale().item<float>(), 2048.0F);
}

TEST_P(Scaler, UnscalesOnceInARoundAndUpdatesAfterIt) {
  GradScaler scaler(*accelerator_, device_, {}, true);
  const at::Tensor w = parameter(at::tensor({1.0F}));
  w.mutable_grad() = at::tensor({65536.0F}).to(device_);
  EXPECT_THROW(scaler.update(), Error);
  EXPECT_THROW(scaler.found_inf(), Error);
  scaler.unscale({w});
  EXPECT_THROW(scaler.unscale({w}), Error);
  EXPECT_EQ(w.grad().item<float>(), 1.0F);
  scaler.update();
  scaler.unscale({w});  // the next round
}

TEST_P(Scaler, TheFlagOfARoundOutlivesIt) {
  GradScaler scaler(*accelerator_, device_, {}, true);
  const at::Tensor w = parameter(at::tensor({1.0F}));
  w.mutable_grad() = at::tensor({kInf}).to(device_);
  scaler.unscale({w});
  const at::Tensor flag = *scaler.found_inf();
  scaler.update();
  w.mutable_grad() = at::tensor({1.0F}).to(device_);
  scaler.unscale({w});
  EXPECT_EQ(flag.item<float>(), 1.0F);
  EXPECT_EQ(scaler.found_inf()->item<float>(), 0.0F);
}

TEST_P(Scaler, WithoutAnyGradientSaysSo) {
  GradScaler scaler(*accelerator_, device_, {}, true);
  try {
    scaler.unscale({parameter(at::tensor({1.0F})), parameter(at::tensor({2.0F}))});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNumerics);
    EXPECT_THAT(error.what(), HasSubstr("none of the 2 parameters got one"));
  }
}

INSTANTIATE_TEST_SUITE_P(Through, Scaler, ::testing::ValuesIn(ways()), [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace lerobot::precision
