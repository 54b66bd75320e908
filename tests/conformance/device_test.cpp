// Context, devices, selftest, TF32, seed.
#include <ATen/ops/rand.h>

#include "tests/conformance/plugin_under_test.h"

namespace lerobot::conformance {
namespace {

using Lifecycle = PluginTest;
using Device = PluginTest;
using Tf32 = PluginTest;
using Memory = PluginTest;
using Seed = PluginTest;

TEST_F(Lifecycle, HasOneContextAtATime) {
  const auto args = sized<lra_init_args>();
  lra_context* second = nullptr;
  expect_refused(api_.init(&args, &second, &error_), LRA_WRONG_STATE);
  EXPECT_EQ(second, nullptr);
}

TEST_F(Lifecycle, StartsAgainAfterShutdown) {
  expect_ok(api_.shutdown(context_, &error_));
  std::uint32_t count = 42;
  expect_refused(api_.device_count(context_, &count, &error_), LRA_WRONG_STATE);
  EXPECT_EQ(count, 42U);
  context_ = nullptr;
  const auto args = sized<lra_init_args>();
  expect_ok(api_.init(&args, &context_, &error_));
}

TEST_F(Lifecycle, RefusesAnotherContext) {
  std::uint32_t count = 42;
  expect_refused(api_.device_count(nullptr, &count, &error_), LRA_INVALID_ARGUMENT);
  expect_refused(api_.shutdown(nullptr, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(count, 42U);
}

TEST_F(Lifecycle, RefusesInitArgumentsThatItDoesNotKnow) {
  expect_ok(api_.shutdown(context_, &error_));
  context_ = nullptr;
  const Longer<lra_init_args> unknown(sized<lra_init_args>(), 1);
  lra_context* context = nullptr;
  expect_refused(api_.init(&unknown.value, &context, &error_), LRA_UNSUPPORTED);
  expect_refused(api_.init(nullptr, &context, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_EQ(context, nullptr);
}

TEST_F(Device, IsOneThatTorchKnows) {
  const c10::Device device{std::string(device_.torch_device)};
  EXPECT_EQ(static_cast<std::int32_t>(device.type()), device_.torch_type);
  EXPECT_EQ(device.index(), device_.torch_index);
  EXPECT_EQ(device_.ordinal, 0U);
  EXPECT_STRNE(device_.name, "");
  EXPECT_GT(device_.memory_total, 0U);
  EXPECT_EQ(values(on_device({1, 2, 3})), (std::vector<float>{1, 2, 3}));
}

TEST_F(Device, IsOfATypeThatTheManifestLists) {
  const c10::Device device{std::string(device_.torch_device)};
  const auto& types = PluginUnderTest::get().manifest().at("device_types").as_array();
  const std::string type = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  EXPECT_NE(std::find(types.begin(), types.end(), boost::json::value(type)), types.end()) << type;
}

TEST_F(Device, DoesNotExistPastTheCount) {
  std::uint32_t count = 0;
  expect_ok(api_.device_count(context_, &count, &error_));
  auto info = sized<lra_device_info>();
  expect_refused(api_.device_info(context_, count, &info, &error_), LRA_INVALID_ARGUMENT);
  EXPECT_STREQ(info.torch_device, "");
  expect_refused(api_.activate_device(context_, count, &error_), LRA_INVALID_ARGUMENT);
  expect_refused(api_.selftest(context_, count, &error_), LRA_INVALID_ARGUMENT);
}

TEST_F(Device, FillsALongerInfoUpToWhatItKnows) {
  Longer<lra_device_info> info(sized<lra_device_info>(), 42);
  expect_ok(api_.device_info(context_, 0, &info.value, &error_));
  EXPECT_LE(info.value.struct_size, sizeof(lra_device_info));
  EXPECT_EQ(info.tail[5], 42);
}

TEST_F(Device, PassesItsSelftest) {
  expect_ok(api_.selftest(context_, 0, &error_));
}

TEST_F(Device, Synchronizes) {
  auto args = sized<lra_synchronize_args>();
  expect_ok(api_.synchronize(context_, &args, &error_));
  args.stream = 1;
  expect_refused(api_.synchronize(context_, &args, &error_), LRA_UNSUPPORTED);
  expect_refused(api_.synchronize(context_, nullptr, &error_), LRA_INVALID_ARGUMENT);
}

TEST_F(Device, AcceptsANullError) {
  EXPECT_EQ(api_.activate_device(context_, 1000, nullptr), LRA_INVALID_ARGUMENT);
}

TEST_F(Tf32, IsUntouchedByLeave) {
  if (api_.tf32_get == nullptr) GTEST_SKIP() << "the plugin has no tf32 functions";
  auto before = sized<lra_tf32>();
  expect_ok(api_.tf32_get(context_, &before, &error_));
  const auto leave = sized<lra_tf32>();
  expect_ok(api_.tf32_set(context_, &leave, &error_));
  auto after = sized<lra_tf32>();
  expect_ok(api_.tf32_get(context_, &after, &error_));
  EXPECT_EQ(before.matmul, after.matmul);
  EXPECT_EQ(before.convolution, after.convolution);
}

TEST_F(Tf32, IsOnWhereTheDeviceHasItAndRefusedElsewhere) {
  if (api_.tf32_get == nullptr) GTEST_SKIP() << "the plugin has no tf32 functions";
  auto settings = sized<lra_tf32>();
  settings.matmul = LRA_TF32_OFF;
  settings.convolution = LRA_TF32_OFF;
  expect_ok(api_.tf32_set(context_, &settings, &error_));
  settings.matmul = LRA_TF32_ON;
  const bool capable = (device_.capabilities & LRA_CAP_TF32) != 0;
  const lra_status status = api_.tf32_set(context_, &settings, &error_);
  if (!capable) expect_refused(status, LRA_UNSUPPORTED);
  if (capable) expect_ok(status);
  auto state = sized<lra_tf32>();
  expect_ok(api_.tf32_get(context_, &state, &error_));
  EXPECT_EQ(state.matmul, capable ? LRA_TF32_ON : LRA_TF32_OFF);
  EXPECT_EQ(state.convolution, LRA_TF32_OFF);
}

TEST_F(Tf32, RefusesAnUnknownValue) {
  if (api_.tf32_get == nullptr) GTEST_SKIP() << "the plugin has no tf32 functions";
  auto settings = sized<lra_tf32>();
  settings.convolution = 7;
  expect_refused(api_.tf32_set(context_, &settings, &error_), LRA_INVALID_ARGUMENT);
}

TEST_F(Memory, CountsALiveTensorOrSaysThatItDoesNot) {
  if (api_.memory_stats == nullptr) GTEST_SKIP() << "the plugin has no memory_stats";
  auto before = sized<lra_memory_stats>();
  const lra_status status = api_.memory_stats(context_, 0, &before, &error_);
  if (status == LRA_UNSUPPORTED) return expect_refused(status, LRA_UNSUPPORTED);
  expect_ok(status);
  constexpr std::size_t kElements = std::size_t{1} << 20;
  const at::Tensor tensor = on_device(std::vector<float>(kElements));
  auto after = sized<lra_memory_stats>();
  expect_ok(api_.memory_stats(context_, 0, &after, &error_));
  EXPECT_GE(after.allocated, before.allocated + kElements * sizeof(float));
  EXPECT_GE(after.allocated_peak, after.allocated);
  EXPECT_GE(after.cached, after.allocated);
  EXPECT_GE(after.cached_peak, after.cached);
}

TEST_F(Memory, OfAnUnknownDeviceIsRefused) {
  if (api_.memory_stats == nullptr) GTEST_SKIP() << "the plugin has no memory_stats";
  auto stats = sized<lra_memory_stats>();
  expect_refused(api_.memory_stats(context_, 1000, &stats, &error_), LRA_INVALID_ARGUMENT);
  expect_refused(api_.memory_stats(context_, 0, nullptr, &error_), LRA_INVALID_ARGUMENT);
}

TEST_F(Seed, RepeatsRandomNumbers) {
  if (api_.seed == nullptr) GTEST_SKIP() << "the plugin leaves seeding to torch";
  const auto options = at::TensorOptions(at::kFloat).device(c10::Device(std::string(device_.torch_device)));
  expect_ok(api_.seed(context_, 0, 1000, &error_));
  const auto first = values(at::rand({8}, options));
  const auto second = values(at::rand({8}, options));
  EXPECT_NE(first, second);
  expect_ok(api_.seed(context_, 0, 1000, &error_));
  EXPECT_EQ(values(at::rand({8}, options)), first);
}

}  // namespace
}  // namespace lerobot::conformance
