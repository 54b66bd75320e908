// The full library's part that both GPU plugins share, in a torch that only claims to have such devices.
#include "plugins/cuda/gpu_backend.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <gmock/gmock.h>

#include "sdk/failure.h"

namespace lerobot::plugins {
namespace {

using testing::HasSubstr;

/// What torch answers; its own hooks for these devices are in a library that this process lacks.
bool torch_is_built = true;
bool torch_is_rocm = false;
int torch_devices = 0;

struct FakeHooks : at::CUDAHooksInterface {
  explicit FakeHooks(at::CUDAHooksArgs) {}
  bool isBuilt() const override { return torch_is_built; }
  bool hasROCM() const override { return torch_is_rocm; }
  at::DeviceIndex deviceCount() const override { return static_cast<at::DeviceIndex>(torch_devices); }
};

}  // namespace
}  // namespace lerobot::plugins

namespace at {
C10_REGISTER_CLASS(CUDAHooksRegistry, CUDAHooks, lerobot::plugins::FakeHooks)
}  // namespace at

namespace lerobot::plugins {
namespace {

constexpr Vendor kNvidia = {.name = "CUDA",
                            .is_rocm = false,
                            .bf16_missing = "lacks bf16",
                            .fp16_missing = "lacks fp16",
                            .tf32_missing = "no TF32 here"};
constexpr Vendor kAmd = {.name = "ROCm", .is_rocm = true, .bf16_missing = "", .fp16_missing = "", .tf32_missing = ""};

lra_device_info device(const char* name, const char* architecture, std::uint64_t capabilities) {
  lra_device_info info{};
  info.struct_size = sizeof info;
  info.capabilities = capabilities;
  sdk::copy_text(info.name, name);
  sdk::copy_text(info.architecture, architecture);
  return info;
}

sdk::ProbeReport new_and_old() {
  sdk::ProbeReport report;
  report.devices = {device("H200", "sm_90", LRA_CAP_BF16_NATIVE | LRA_CAP_FP16_NATIVE | LRA_CAP_TF32),
                    device("T4", "sm_75", LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE)};
  return report;
}

sdk::ProbeReport old_only() {
  sdk::ProbeReport report;
  report.devices = {new_and_old().devices[1]};
  return report;
}

sdk::ProbeReport unavailable() {
  sdk::ProbeReport report;
  report.refuse(LRA_REASON_HIDDEN_BY_ENVIRONMENT, "hidden by a variable", "unset it");
  return report;
}

class GpuBackend : public testing::Test {
 protected:
  void SetUp() override {
    torch_is_built = true;
    torch_is_rocm = false;
    torch_devices = 2;
  }

  /// Why there is no backend.
  static std::string refusal(const Vendor& vendor, sdk::ProbeReport (*ask_driver)()) {
    try {
      make_gpu_backend(vendor, ask_driver);
    } catch (const sdk::Failure& failure) {
      EXPECT_EQ(failure.status(), LRA_UNAVAILABLE);
      return failure.what() + (" | " + failure.hint());
    }
    return "none";
  }
};

TEST_F(GpuBackend, NamesTheDriversDevicesAsTorchDoes) {
  const auto devices = make_gpu_backend(kNvidia, new_and_old)->devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_STREQ(devices[1].name, "T4");
  EXPECT_STREQ(devices[1].torch_device, "cuda:1");
  EXPECT_EQ(devices[1].torch_type, static_cast<std::int32_t>(c10::kCUDA));
  EXPECT_EQ(devices[1].torch_index, 1);
}

TEST_F(GpuBackend, RefusesATorchThatShowsAnotherNumberOfDevices) {
  for (const int count : {0, 1, 3}) {
    torch_devices = count;
    EXPECT_THAT(refusal(kNvidia, new_and_old), HasSubstr("torch shows " + std::to_string(count) +
                                                         " devices, the driver 2 (H200 (sm_90), T4 (sm_75))"));
  }
}

TEST_F(GpuBackend, RefusesATorchForOtherHardware) {
  EXPECT_THAT(refusal(kAmd, new_and_old), HasSubstr("built without ROCm | Name a torch built for ROCm"));
  torch_is_rocm = true;
  EXPECT_EQ(refusal(kAmd, new_and_old), "none");
  EXPECT_THAT(refusal(kNvidia, new_and_old), HasSubstr("built without CUDA"));
  torch_is_rocm = torch_is_built = false;
  EXPECT_THAT(refusal(kNvidia, new_and_old), HasSubstr("built without CUDA"));
}

TEST_F(GpuBackend, PassesOnTheDriversReason) {
  EXPECT_EQ(refusal(kNvidia, unavailable), "hidden by a variable | unset it");
}

TEST_F(GpuBackend, SaysHowWellEachDeviceComputes) {
  const auto backend = make_gpu_backend(kNvidia, new_and_old);
  EXPECT_EQ(backend->autocast_support(0, LRA_PRECISION_BF16).support, LRA_SUPPORT_NATIVE);
  EXPECT_EQ(backend->autocast_support(1, LRA_PRECISION_FP16).support, LRA_SUPPORT_NATIVE);
  const sdk::AutocastSupport old = backend->autocast_support(1, LRA_PRECISION_BF16);
  EXPECT_EQ(old.support, LRA_SUPPORT_EMULATED);
  EXPECT_EQ(old.reason, "T4 (sm_75) lacks bf16");
}

TEST_F(GpuBackend, HasTf32WhereADeviceHasIt) {
  constexpr lra_tf32 kOn = {sizeof(lra_tf32), LRA_TF32_ON, LRA_TF32_ON, 0};
  constexpr lra_tf32 kOff = {sizeof(lra_tf32), LRA_TF32_OFF, LRA_TF32_OFF, 0};
  const auto capable = make_gpu_backend(kNvidia, new_and_old);
  capable->set_tf32(kOn);
  EXPECT_EQ(capable->tf32().matmul, LRA_TF32_ON);
  torch_devices = 1;
  const auto old = make_gpu_backend(kNvidia, old_only);
  old->set_tf32(kOff);
  EXPECT_EQ(old->tf32().convolution, LRA_TF32_OFF);
  EXPECT_THROW(old->set_tf32(kOn), sdk::Failure);
  EXPECT_EQ(old->tf32().matmul, LRA_TF32_OFF);
}

}  // namespace
}  // namespace lerobot::plugins
