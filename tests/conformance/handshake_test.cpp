// lra_get_api: who may use the plugin, and how much of the table is written.
#include <cstddef>
#include <cstring>

#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

class Handshake : public ::testing::Test {
 protected:
  lra_status meet(const lra_host_info& host) { return PluginUnderTest::get().get_api()(&host, &api_, &error_); }

  /// Expects the status with a message, and a table that nothing was written to.
  void expect_refused(const lra_host_info& host, lra_status expected) {
    EXPECT_EQ(meet(host), expected) << error_.message;
    EXPECT_EQ(error_.code, expected);
    EXPECT_STRNE(error_.message, "");
    const auto untouched = sized<lra_api>();
    EXPECT_EQ(std::memcmp(&api_, &untouched, sizeof(api_)), 0);
  }

  lra_host_info with_torch(const char* version) {
    lra_host_info host = fitting_host();
    host.torch_version = version;
    host.torch_version_size = std::strlen(version);
    return host;
  }

  lra_api api_ = sized<lra_api>();
  lra_error error_ = sized<lra_error>();
};

TEST_F(Handshake, AgreesOnTheHighestCommonMajor) {
  lra_host_info host = fitting_host();
  host.abi_major_min = 0;
  host.abi_major_max = 1;
  ASSERT_EQ(meet(host), LRA_OK) << error_.message;
  EXPECT_EQ(api_.abi_major, 1U);
  EXPECT_LE(api_.abi_major_min, 1U);
  EXPECT_GE(api_.abi_major_max, 1U);
}

TEST_F(Handshake, LeavesTheErrorAloneOnSuccess) {
  const auto untouched = sized<lra_error>();
  ASSERT_EQ(meet(fitting_host()), LRA_OK);
  EXPECT_EQ(std::memcmp(&error_, &untouched, sizeof(error_)), 0);
}

TEST_F(Handshake, RefusesAHostThatSpeaksOnlyLaterMajors) {
  lra_host_info host = fitting_host();
  host.abi_major_min = 1000;
  host.abi_major_max = 1001;
  expect_refused(host, LRA_INCOMPATIBLE);
}

TEST_F(Handshake, RefusesAHostThatSpeaksOnlyEarlierMajors) {
  lra_host_info host = fitting_host();
  host.abi_major_min = 0;
  host.abi_major_max = 0;
  expect_refused(host, LRA_INCOMPATIBLE);
}

TEST_F(Handshake, GivesTheIdentityOfTheManifest) {
  ASSERT_EQ(meet(fitting_host()), LRA_OK);
  const auto& manifest = PluginUnderTest::get().manifest();
  EXPECT_EQ(manifest.at("id").as_string(), api_.plugin_id);
  EXPECT_EQ(manifest.at("version").as_string(), api_.plugin_version);
  EXPECT_EQ(manifest.at("torch_version").as_string(), api_.torch_version);
  EXPECT_EQ(manifest.at("abi").at("major_min").as_int64(), api_.abi_major_min);
  EXPECT_EQ(manifest.at("abi").at("major_max").as_int64(), api_.abi_major_max);
}

TEST_F(Handshake, IgnoresThePatchAndTheTagOfTorchsVersion) {
  const std::string version = loaded_api().torch_version;
  const std::string other = version.substr(0, version.rfind('.')) + ".99+cu999";
  EXPECT_EQ(meet(with_torch(other.c_str())), LRA_OK) << error_.message;
}

TEST_F(Handshake, RefusesAnotherTorch) {
  expect_refused(with_torch("1.2.3"), LRA_INCOMPATIBLE);
}

TEST_F(Handshake, RefusesAProcessWithoutTorch) {
  expect_refused(with_torch(""), LRA_INCOMPATIBLE);
}

TEST_F(Handshake, RefusesAnotherCxxAbi) {
  lra_host_info host = fitting_host();
  host.cxx_abi = "another";
  host.cxx_abi_size = 7;
  expect_refused(host, LRA_INCOMPATIBLE);
}

TEST_F(Handshake, AcceptsASanitizedHost) {
  lra_host_info host = fitting_host();
  host.sanitizers = LRA_SANITIZER_ADDRESS | LRA_SANITIZER_THREAD | LRA_SANITIZER_MEMORY;
  EXPECT_EQ(meet(host), LRA_OK) << error_.message;
}

TEST_F(Handshake, AcceptsALongerStructWithAZeroTail) {
  const Longer<lra_host_info> host(fitting_host());
  EXPECT_EQ(meet(host.value), LRA_OK) << error_.message;
}

TEST_F(Handshake, RefusesAFieldThatItDoesNotKnow) {
  const Longer<lra_host_info> host(fitting_host(), 1);
  expect_refused(host.value, LRA_UNSUPPORTED);
}

TEST_F(Handshake, RefusesAReservedField) {
  lra_host_info host = fitting_host();
  host.reserved = 1;
  expect_refused(host, LRA_UNSUPPORTED);
}

TEST_F(Handshake, RefusesAStructShorterThanTheFirstVersion) {
  lra_host_info host = fitting_host();
  host.struct_size = 8;
  expect_refused(host, LRA_INVALID_ARGUMENT);
}

TEST_F(Handshake, FillsAShorterTableWithWholeEntriesOnly) {
  api_.struct_size = offsetof(lra_api, autocast_query) + 3;  // half an entry more
  ASSERT_EQ(meet(fitting_host()), LRA_OK) << error_.message;
  EXPECT_EQ(api_.struct_size, offsetof(lra_api, autocast_query));
  EXPECT_NE(api_.selftest, nullptr);
  EXPECT_EQ(api_.autocast_query, nullptr);
  EXPECT_EQ(api_.scaler_unscale, nullptr);
}

TEST_F(Handshake, LeavesTheTailOfALongerTableAlone) {
  Longer<lra_api> longer(api_, 42);
  const lra_host_info host = fitting_host();
  ASSERT_EQ(PluginUnderTest::get().get_api()(&host, &longer.value, &error_), LRA_OK) << error_.message;
  EXPECT_LE(longer.value.struct_size, sizeof(lra_api));
  EXPECT_EQ(longer.tail[5], 42);
}

TEST_F(Handshake, RefusesATableWithoutRoomForItself) {
  const lra_host_info host = fitting_host();
  api_.struct_size = 16;
  EXPECT_EQ(PluginUnderTest::get().get_api()(&host, &api_, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(api_.abi_major, 0U);
}

TEST_F(Handshake, RefusesNullPointers) {
  const lra_host_info host = fitting_host();
  EXPECT_EQ(PluginUnderTest::get().get_api()(nullptr, &api_, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(PluginUnderTest::get().get_api()(&host, nullptr, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(PluginUnderTest::get().get_api()(nullptr, nullptr, nullptr), LRA_INVALID_ARGUMENT);
}

TEST_F(Handshake, HasEveryRequiredFunctionAndWholeGroups) {
  const lra_api api = loaded_api();
  EXPECT_NE(api.init, nullptr);
  EXPECT_NE(api.shutdown, nullptr);
  EXPECT_NE(api.device_count, nullptr);
  EXPECT_NE(api.device_info, nullptr);
  EXPECT_NE(api.activate_device, nullptr);
  EXPECT_NE(api.synchronize, nullptr);
  EXPECT_NE(api.selftest, nullptr);
  EXPECT_EQ(api.autocast_query == nullptr, api.autocast_enter == nullptr);
  EXPECT_EQ(api.autocast_query == nullptr, api.autocast_exit == nullptr);
  EXPECT_EQ(api.tf32_get == nullptr, api.tf32_set == nullptr);
}

}  // namespace
}  // namespace lerobot::conformance
