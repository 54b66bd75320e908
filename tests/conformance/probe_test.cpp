// lra_probe: a usable device or a reason, in the caller's buffers.
#include <cstring>

#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

class Probe : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kCapacity = 8;

  void SetUp() override {
    args_.abi_major_min = LRA_VERSION_MAJOR;
    args_.abi_major_max = LRA_VERSION_MAJOR;
    for (lra_device_info& device : devices_) device = sized<lra_device_info>();
    result_.devices = devices_;
    result_.device_capacity = kCapacity;
  }

  lra_status probe() { return PluginUnderTest::get().probe()(&args_, &result_, &error_); }

  lra_probe_args args_ = sized<lra_probe_args>();
  lra_device_info devices_[kCapacity];
  lra_probe_result result_ = sized<lra_probe_result>();
  lra_error error_ = sized<lra_error>();
};

TEST_F(Probe, GivesDevicesOrAReason) {
  ASSERT_EQ(probe(), LRA_OK) << error_.message;
  if (result_.availability == LRA_PROBE_UNAVAILABLE) {
    EXPECT_NE(result_.reason_code, LRA_REASON_NONE);
    EXPECT_STRNE(result_.reason, "");
    return;
  }
  ASSERT_EQ(result_.availability, LRA_PROBE_USABLE);
  EXPECT_EQ(result_.reason_code, LRA_REASON_NONE);
  ASSERT_GE(result_.device_count, 1U);
  EXPECT_STRNE(devices_[0].name, "");
  EXPECT_STRNE(devices_[0].architecture, "");
  EXPECT_GT(devices_[0].memory_total, 0U);
}

TEST_F(Probe, CountsDevicesWithoutRoomForThem) {
  ASSERT_EQ(probe(), LRA_OK) << error_.message;
  const std::uint32_t count = result_.device_count;
  result_ = sized<lra_probe_result>();
  ASSERT_EQ(probe(), LRA_OK) << error_.message;
  EXPECT_EQ(result_.device_count, count);
}

TEST_F(Probe, FillsElementsOfALaterVersionInPlace) {
  Longer<lra_device_info> longer[2] = {Longer(sized<lra_device_info>(), 42), Longer(sized<lra_device_info>(), 43)};
  result_.devices = &longer[0].value;
  result_.device_capacity = 2;
  ASSERT_EQ(probe(), LRA_OK) << error_.message;
  EXPECT_EQ(longer[0].tail[5], 42);
  EXPECT_EQ(longer[1].tail[5], 43);
}

TEST_F(Probe, RefusesAHostWithoutACommonMajor) {
  args_.abi_major_min = 1000;
  args_.abi_major_max = 1001;
  EXPECT_EQ(probe(), LRA_INCOMPATIBLE);
  EXPECT_EQ(result_.availability, 0U);
  EXPECT_STREQ(devices_[0].name, "");
}

TEST_F(Probe, RefusesAFieldThatItDoesNotKnow) {
  const Longer<lra_probe_args> longer(args_, 1);
  EXPECT_EQ(PluginUnderTest::get().probe()(&longer.value, &result_, &error_), LRA_UNSUPPORTED);
  EXPECT_EQ(result_.availability, 0U);
}

TEST_F(Probe, RefusesNullPointers) {
  EXPECT_EQ(PluginUnderTest::get().probe()(nullptr, &result_, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(PluginUnderTest::get().probe()(&args_, nullptr, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(PluginUnderTest::get().probe()(nullptr, nullptr, nullptr), LRA_INVALID_ARGUMENT);
  result_.devices = nullptr;
  EXPECT_EQ(probe(), LRA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace lerobot::conformance
