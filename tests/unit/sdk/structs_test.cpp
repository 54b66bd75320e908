#include "sdk/structs.h"

#include <gtest/gtest.h>

#include <array>

#include "sdk/handshake.h"
#include "sdk/probe.h"

namespace lerobot::sdk {
namespace {

template <typename Body>
lra_status status_of(Body&& body) {
  return guarded(nullptr, std::forward<Body>(body));
}

lra_probe_args probe_args() {
  lra_probe_args args{};
  args.struct_size = sizeof(args);
  args.abi_major_min = LRA_VERSION_MAJOR;
  args.abi_major_max = LRA_VERSION_MAJOR;
  return args;
}

TEST(ReadArgs, RefusesASizeThatIsNone) {
  lra_tf32 args{};
  EXPECT_EQ(status_of([&] { read_args(&args, "args"); }), LRA_INVALID_ARGUMENT);
  args.struct_size = 0xCDCDCDCD;  // uninitialized memory
  EXPECT_EQ(status_of([&] { read_args(&args, "args"); }), LRA_INVALID_ARGUMENT);
}

TEST(WriteOutput, StopsAtTheCallersSize) {
  std::array<lra_tf32, 2> output{};
  output[0].struct_size = 12;
  write_output(output.data(), {.struct_size = 0, .matmul = 1, .convolution = 2, .reserved = 3});
  EXPECT_EQ(output[0].struct_size, 12U);
  EXPECT_EQ(output[0].convolution, 2U);
  EXPECT_EQ(output[0].reserved, 0U);
}

TEST(AnswerHandshake, RefusesASanitizedPluginInAPlainHost) {
  lra_host_info host{};
  host.struct_size = sizeof(host);
  host.abi_major_min = host.abi_major_max = LRA_VERSION_MAJOR;
  host.sanitizers = LRA_COMPILED_SANITIZERS;
  lra_api own = describe_plugin("made_up", "1", "");
  lra_api api{};
  api.struct_size = sizeof(api);
  lra_error error{};
  error.struct_size = sizeof(error);
  EXPECT_EQ(answer_handshake(&host, &api, &error, own), LRA_OK);
  api = {};
  api.struct_size = sizeof(api);
  own.sanitizers |= LRA_SANITIZER_MEMORY;
  EXPECT_EQ(answer_handshake(&host, &api, &error, own), LRA_INCOMPATIBLE);
  EXPECT_NE(std::string(error.message).find("sanitizers"), std::string::npos) << error.message;
}

TEST(AnswerProbe, SplitsTheArchitecturesAndCountsDevicesPastTheCapacity) {
  lra_probe_args args = probe_args();
  const std::string archs = "sm_80;sm_90;";
  args.device_archs = archs.data();
  args.device_archs_size = archs.size();
  std::array<lra_device_info, 1> devices{};
  devices[0].struct_size = sizeof(lra_device_info);
  lra_probe_result result{};
  result.struct_size = sizeof(result);
  result.devices = devices.data();
  result.device_capacity = 1;
  const auto look = [](const ProbeRequest& request) {
    ProbeReport report;
    for (const std::string& arch : request.device_archs) {
      lra_device_info device{};
      copy_text(device.architecture, arch);
      report.devices.push_back(device);
    }
    return report;
  };
  ASSERT_EQ(answer_probe(&args, &result, nullptr, look), LRA_OK);
  EXPECT_EQ(result.availability, LRA_PROBE_USABLE);
  EXPECT_EQ(result.device_count, 2U);
  EXPECT_STREQ(devices[0].architecture, "sm_80");
  EXPECT_EQ(result.device_capacity, 1U);
  EXPECT_EQ(result.devices, devices.data());
}

TEST(AnswerProbe, GivesTheReasonOfAnUnavailability) {
  const lra_probe_args args = probe_args();
  lra_probe_result result{};
  result.struct_size = sizeof(result);
  const auto look = [](const ProbeRequest&) {
    ProbeReport report;
    report.reason_code = LRA_REASON_NO_DRIVER;
    report.reason = "no driver";
    report.hint = "Install it.";
    return report;
  };
  ASSERT_EQ(answer_probe(&args, &result, nullptr, look), LRA_OK);
  EXPECT_EQ(result.availability, LRA_PROBE_UNAVAILABLE);
  EXPECT_EQ(result.reason_code, LRA_REASON_NO_DRIVER);
  EXPECT_STREQ(result.reason, "no driver");
  EXPECT_STREQ(result.hint, "Install it.");
}

}  // namespace
}  // namespace lerobot::sdk
