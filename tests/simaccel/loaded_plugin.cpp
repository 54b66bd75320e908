#include "tests/simaccel/loaded_plugin.h"

#include "tests/support/plugin_in_process.h"

namespace lerobot::simaccel {

void PluginTest::SetUp() {
  api_ = test::plugin_table(LEROBOT_SIMACCEL_LIBRARY);
  const auto args = sized<lra_init_args>();
  ASSERT_NE(api_.init, nullptr);
  expect_ok(api_.init(&args, &context_, &error_));
}

void PluginTest::TearDown() {
  if (context_ != nullptr) expect_ok(api_.shutdown(context_, &error_));
}

void PluginTest::expect_ok(lra_status status) {
  EXPECT_EQ(status, LRA_OK) << error_.message;
}

std::vector<float> values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU, at::kFloat).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

}  // namespace lerobot::simaccel
