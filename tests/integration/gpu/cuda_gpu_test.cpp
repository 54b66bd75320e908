// The staged cuda plugin on a real driver: start, selftest, TF32, bf16, memory.
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/accel/start.h"
#include "host/base/error.h"
#include "plugin-api/include/lerobot_accel.h"

namespace lerobot::accel {
namespace {

class CudaDevice : public testing::Test {
 protected:
  /// Torch cannot be unloaded, so one start serves all cases.
  static void SetUpTestSuite() {
    const char* torch = std::getenv("LEROBOT_TORCH_DIR");
    if (torch == nullptr) {
      why_not = "LEROBOT_TORCH_DIR names no torch built for CUDA";
      return;
    }
    StartOptions options;
    options.request.device = "cuda";
    options.request.typed = true;
    try {
      device = start(options).accelerator.release();  // its threads may outlive main
    } catch (const Error& error) {
      why_not = error.what();
    }
  }
  /// Without a driver or a device there is nothing to test; anything else is a failure to start.
  void SetUp() override {
    if (device != nullptr) return;
    for (const char* absent : {"names no torch", "no NVIDIA driver", "knows no device"}) {
      if (why_not.find(absent) != std::string::npos) GTEST_SKIP() << why_not;
    }
    FAIL() << why_not;
  }

  static inline Accelerator* device = nullptr;
  static inline std::string why_not;
};

TEST_F(CudaDevice, PassesItsSelftestUnderItsOwnName) {
  device->selftest();
  device->synchronize();
  EXPECT_EQ(device->torch_device().rfind("cuda:", 0), 0u);
  EXPECT_EQ(device->device_info().architecture.rfind("sm_", 0), 0u);
  EXPECT_NE(device->device_info().pci_address, "");
}

TEST_F(CudaDevice, ReadsBackAllThreeStatesOfTf32) {
  const auto before = device->tf32_get();
  ASSERT_TRUE(before);
  device->tf32_set({Tf32::kLeave, Tf32::kLeave});
  EXPECT_EQ(device->tf32_get()->matmul, before->matmul);
  EXPECT_EQ(device->tf32_get()->convolution, before->convolution);
  device->tf32_set({Tf32::kOff, Tf32::kOff});
  EXPECT_EQ(device->tf32_get()->matmul, Tf32::kOff);
  EXPECT_EQ(device->tf32_get()->convolution, Tf32::kOff);
  if ((device->device_info().capabilities & LRA_CAP_TF32) == 0) {
    EXPECT_THROW(device->tf32_set({Tf32::kOn, Tf32::kLeave}), Error);
    return;
  }
  device->tf32_set({Tf32::kOn, Tf32::kLeave});
  EXPECT_EQ(device->tf32_get()->matmul, Tf32::kOn);
  EXPECT_EQ(device->tf32_get()->convolution, Tf32::kOff);
}

TEST_F(CudaDevice, ComputesInBf16Scopes) {
  EXPECT_NE(device->autocast_query(Precision::kBFloat16).support, Support::kNone);
  const std::uint64_t token = device->autocast_enter(Precision::kBFloat16);
  device->selftest();
  device->autocast_exit(token);
  device->synchronize();
}

TEST_F(CudaDevice, CountsItsMemory) {
  const auto stats = device->memory_stats();
  ASSERT_TRUE(stats);
  EXPECT_GT(stats->cached_peak, 0u) << "the selftest had tensors";
  EXPECT_GT(stats->total, stats->free);
}

}  // namespace
}  // namespace lerobot::accel
