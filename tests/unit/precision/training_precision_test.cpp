// Every precision and TF32 setting on every kind of device: effective, or refused with a reason and a way out.
#include "host/precision/training_precision.h"

#include <gmock/gmock.h>

#include "host/base/error.h"
#include "tests/support/plugin_in_process.h"

namespace lerobot::precision {
namespace {

using accel::Precision;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The cpu plugin, pretending to be another device: its answers are the test's.
struct Pretence {
  std::uint64_t capabilities = 0;
  lra_tf32 tf32{};
  int tf32_sets = 0;
  decltype(lra_api::device_info) real_info = nullptr;
};
Pretence pretence;

lra_status pretended_info(lra_context* context, std::uint32_t device, lra_device_info* info, lra_error* error) {
  const lra_status status = pretence.real_info(context, device, info, error);
  info->capabilities = pretence.capabilities;
  return status;
}

lra_status supports_all(lra_context*, std::uint32_t, std::uint32_t, lra_autocast_support* support, lra_error*) {
  support->support = LRA_SUPPORT_NATIVE;
  return LRA_OK;
}

lra_status get_tf32(lra_context*, lra_tf32* state, lra_error*) {
  *state = pretence.tf32;
  return LRA_OK;
}

lra_status set_tf32_state(lra_context*, const lra_tf32* settings, lra_error*) {
  if (settings->matmul != LRA_TF32_LEAVE) pretence.tf32.matmul = settings->matmul;
  if (settings->convolution != LRA_TF32_LEAVE) pretence.tf32.convolution = settings->convolution;
  ++pretence.tf32_sets;
  return LRA_OK;
}

std::unique_ptr<accel::Accelerator> device_with(std::uint64_t capabilities) {
  pretence = {};
  pretence.capabilities = capabilities;
  pretence.tf32 = {.struct_size = sizeof(lra_tf32), .matmul = LRA_TF32_OFF, .convolution = LRA_TF32_ON, .reserved = 0};
  return test::start_in_process(test::plugin_library("cpu"), [](lra_api& api) {
    pretence.real_info = api.device_info;
    api.device_info = pretended_info;
    api.autocast_query = supports_all;
    api.tf32_get = get_tf32;
    api.tf32_set = set_tf32_state;
  });
}

std::string refusal(std::uint64_t capabilities, const char* precision, const std::vector<std::string>& rejected = {}) {
  const auto device = device_with(capabilities);
  try {
    usable_precision(precision, *device, rejected);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfig);
    return error.what();
  }
  return "taken";
}

TEST(TrainingPrecision, OfEachDeviceIsEffectiveOrRefusedWithAWayOut) {
  const auto on_accelerator = [](std::uint64_t bf16, std::uint64_t fp16) { return bf16 | fp16; };
  const std::uint64_t all = on_accelerator(LRA_CAP_BF16_NATIVE, LRA_CAP_FP16_NATIVE);
  EXPECT_EQ(usable_precision("no", *device_with(0), {}), Precision::kFloat32);
  EXPECT_EQ(usable_precision("bf16", *device_with(all), {}), Precision::kBFloat16);
  EXPECT_EQ(usable_precision("fp16", *device_with(all), {}), Precision::kFloat16);
  EXPECT_EQ(usable_precision("fp16", *device_with(LRA_CAP_FP16_EMULATED), {}), Precision::kFloat16);
  EXPECT_THAT(refusal(on_accelerator(LRA_CAP_BF16_EMULATED, LRA_CAP_FP16_NATIVE), "bf16"),
              AllOf(HasSubstr("--accelerator.mixed_precision=bf16: cpu ("), HasSubstr("Use fp16")));
  EXPECT_THAT(refusal(LRA_CAP_FP16_NATIVE, "bf16"), HasSubstr("Use fp16"));
  EXPECT_THAT(refusal(0, "bf16"), HasSubstr("Use no"));
  EXPECT_THAT(refusal(LRA_CAP_BF16_NATIVE, "fp16"), HasSubstr("--accelerator.mixed_precision=fp16"));

  const std::uint64_t processor = LRA_CAP_HOST_PROCESSOR;
  EXPECT_EQ(usable_precision("bf16", *device_with(processor | LRA_CAP_BF16_EMULATED), {}), Precision::kBFloat16);
  EXPECT_THAT(refusal(processor | LRA_CAP_BF16_NATIVE, "fp16"), HasSubstr("Use bf16 or no"));
}

TEST(TrainingPrecision, Fp16OnAProcessorNamesTheAcceleratorsThatWereNotUsable) {
  const std::vector<std::string> rejected{"cuda: unavailable: the driver is too old. Update it"};
  const std::uint64_t processor = LRA_CAP_HOST_PROCESSOR | LRA_CAP_BF16_NATIVE;
  EXPECT_THAT(
      refusal(processor, "fp16", rejected),
      AllOf(HasSubstr("Use bf16 or no"), HasSubstr("No accelerator was usable: cuda: unavailable: the driver")));
  EXPECT_THAT(refusal(LRA_CAP_BF16_NATIVE, "fp16", rejected), Not(HasSubstr("cuda")));
}

TEST(TrainingPrecision, IsRefusedWhereThePluginKnowsBetterThanItsBits) {
  const auto device = test::start_in_process(test::plugin_library("cpu"), [](lra_api& api) {
    api.autocast_query = nullptr;  // and with it all three
  });
  EXPECT_THROW(usable_precision("bf16", *device, {}), Error);
  EXPECT_EQ(usable_precision("no", *device, {}), Precision::kFloat32);
}

TEST(Tf32, IsSetWhereTheDeviceHasItAndReadBack) {
  const auto device = device_with(LRA_CAP_TF32);
  EXPECT_EQ(set_tf32(std::nullopt, *device), "TF32 on for convolutions only");
  EXPECT_EQ(pretence.tf32_sets, 0) << "null touches nothing";
  EXPECT_EQ(set_tf32(true, *device), "TF32 on");
  EXPECT_EQ(pretence.tf32.matmul, LRA_TF32_ON);
  EXPECT_EQ(set_tf32(false, *device), "TF32 off");
  EXPECT_EQ(pretence.tf32.matmul, LRA_TF32_OFF);
  EXPECT_EQ(pretence.tf32.convolution, LRA_TF32_OFF);
}

TEST(Tf32, IsNotAskedOfADeviceWithoutIt) {
  EXPECT_EQ(set_tf32(true, *device_with(0)), "no TF32 on this device");
  EXPECT_EQ(pretence.tf32_sets, 0);
  const auto plain = test::start_in_process(test::plugin_library("cpu"));
  for (const std::optional<bool> setting : {std::optional<bool>(true), std::optional<bool>(false), {}}) {
    EXPECT_EQ(set_tf32(setting, *plain), "no TF32 on this device");
  }
}

}  // namespace
}  // namespace lerobot::precision
