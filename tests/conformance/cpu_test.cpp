// What only the cpu plugin promises.
#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

class CpuPlugin : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    if (PluginUnderTest::get().manifest().at("id").as_string() != "cpu") GTEST_SKIP() << "not the cpu plugin";
  }
};

TEST_F(CpuPlugin, HasOneDeviceNamedAsTorchDoes) {
  std::uint32_t count = 0;
  expect_ok(api_.device_count(context_, &count, &error_));
  EXPECT_EQ(count, 1U);
  EXPECT_STREQ(device_.torch_device, "cpu");
  EXPECT_NE(device_.capabilities & LRA_CAP_HOST_PROCESSOR, 0U);
}

TEST_F(CpuPlugin, TrainsInBf16AndRefusesFp16WithAReason) {
  auto support = sized<lra_autocast_support>();
  expect_ok(api_.autocast_query(context_, 0, LRA_PRECISION_BF16, &support, &error_));
  const bool native = (device_.capabilities & LRA_CAP_BF16_NATIVE) != 0;
  EXPECT_EQ(support.support, native ? LRA_SUPPORT_NATIVE : LRA_SUPPORT_EMULATED);
  support = sized<lra_autocast_support>();
  expect_ok(api_.autocast_query(context_, 0, LRA_PRECISION_FP16, &support, &error_));
  EXPECT_EQ(support.support, LRA_SUPPORT_NONE);
  EXPECT_NE(std::string(support.reason).find("Use bf16"), std::string::npos) << support.reason;
}

TEST_F(CpuPlugin, HasNoTf32) {
  EXPECT_EQ(api_.tf32_get, nullptr);
  EXPECT_EQ(api_.tf32_set, nullptr);
}

}  // namespace
}  // namespace lerobot::conformance
