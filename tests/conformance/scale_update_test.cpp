// scaler_update: PyTorch's rule, step by step.
#include <boost/json/array.hpp>

#include "host/base/json.h"
#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

class ScaleUpdate : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (api_.scaler_update == nullptr) GTEST_SKIP() << "the plugin leaves the update to the host";
  }

  void start(float scale, std::uint32_t interval) {
    scale_ = on_device({scale});
    tracker_ = on_device({0}).to(at::kInt);
    args_.growth_factor = 2;
    args_.backoff_factor = 0.5;
    args_.growth_interval = interval;
  }

  lra_status update(bool overflow) {
    found_inf_ = on_device({overflow ? 1.0F : 0.0F});
    const lra_tensor_view scale = view(scale_);
    const lra_tensor_view tracker = view(tracker_);
    const lra_tensor_view found_inf = view(found_inf_);
    args_.scale = &scale;
    args_.growth_tracker = &tracker;
    args_.found_inf = &found_inf;
    return api_.scaler_update(context_, &args_, &error_);
  }

  void expect_state(double scale, std::int64_t tracker) {
    EXPECT_EQ(values(scale_).at(0), static_cast<float>(scale));
    EXPECT_EQ(values(tracker_).at(0), static_cast<float>(tracker));
  }

  lra_scaler_update_args args_ = sized<lra_scaler_update_args>();
  at::Tensor scale_;
  at::Tensor tracker_;
  at::Tensor found_inf_;
};

TEST_F(ScaleUpdate, HalvesOnOverflowAndDoublesAfterAQuietStretch) {
  start(4, 2);
  const std::vector<std::tuple<bool, float, int>> steps = {{false, 4, 1}, {true, 2, 0},  {false, 2, 1},
                                                           {false, 4, 0}, {false, 4, 1}, {false, 8, 0}};
  for (const auto& [overflow, scale, tracker] : steps) {
    expect_ok(update(overflow));
    expect_state(scale, tracker);
  }
}

TEST_F(ScaleUpdate, FollowsPyTorchsRecordedRuns) {
  const auto golden =
      json::read_file(LEROBOT_TEST_DATA "/goldens/grad_scaler.json", ErrorKind::kIo, json::NonFinite::kAccept);
  for (const auto& run : golden.at("runs").as_array()) {
    SCOPED_TRACE(run.at("label").as_string().c_str());
    const auto& state = run.at("state_dict").as_object();
    if (state.empty()) continue;  // of a disabled scaler
    const auto& steps = run.at("steps").as_array();
    start(steps.at(0).at("scale_before").to_number<float>(), state.at("growth_interval").to_number<std::uint32_t>());
    args_.growth_factor = state.at("growth_factor").to_number<double>();
    args_.backoff_factor = state.at("backoff_factor").to_number<double>();
    for (const auto& step : steps) {
      expect_ok(update(step.at("found_inf").to_number<double>() != 0));
      expect_state(step.at("scale").to_number<double>(), step.at("growth_tracker").to_number<std::int64_t>());
    }
  }
}

TEST_F(ScaleUpdate, OnlyReadsTheFlag) {
  start(4, 2);
  expect_ok(update(true));
  EXPECT_EQ(values(found_inf_).at(0), 1);
}

TEST_F(ScaleUpdate, RefusesFactorsThatMakeNoSense) {
  const std::vector<void (*)(lra_scaler_update_args&)> faults = {
      [](lra_scaler_update_args& a) { a.growth_factor = 1; },  [](lra_scaler_update_args& a) { a.backoff_factor = 1; },
      [](lra_scaler_update_args& a) { a.backoff_factor = 0; }, [](lra_scaler_update_args& a) { a.growth_interval = 0; },
      [](lra_scaler_update_args& a) { a.device = 1000; },
  };
  for (const auto& spoil : faults) {
    args_ = sized<lra_scaler_update_args>();
    start(4, 2);
    spoil(args_);
    expect_refused(update(false), LRA_INVALID_ARGUMENT);
    expect_state(4, 0);
  }
}

TEST_F(ScaleUpdate, RefusesCellsOfTheWrongKind) {
  start(4, 2);
  scale_ = on_device({4, 4});
  expect_refused(update(false), LRA_INVALID_ARGUMENT);
  start(4, 2);
  tracker_ = on_device({0});
  expect_refused(update(false), LRA_INVALID_ARGUMENT);
  start(4, 2);
  args_.stream = 1;
  expect_refused(update(false), LRA_UNSUPPORTED);
  expect_state(4, 0);
}

}  // namespace
}  // namespace lerobot::conformance
