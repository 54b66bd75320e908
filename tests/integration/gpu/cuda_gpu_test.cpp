// The staged cuda plugin on a real driver: start, selftest, TF32, autocast, scaler, memory. Tensors come from the
// checker's library: this program links no torch, the plugin brings it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "host/accel/activate.h"
#include "host/accel/library.h"
#include "host/accel/precision_rule.h"
#include "host/accel/start.h"
#include "host/base/error.h"
#include "host/checker/tensors.h"
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
      Started started = start(options);
      device = started.accelerator.release();  // its threads may outlive main
      open_tensors(major_minor(started.torch.version));
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

  static void open_tensors(const std::string& torch) {
    const auto path = library_directory() / "lerobot/checker" / torch / "liblerobot_checker.so";
    void* entry = Library::open(path).find("lerobot_checker");
    tensors = reinterpret_cast<const checker::Checker* (*)()>(entry)()->open(device->torch_device()).release();
  }
  static bool has(std::uint64_t capability) { return (device->device_info().capabilities & capability) != 0; }

  static inline Accelerator* device = nullptr;
  static inline checker::Tensors* tensors = nullptr;
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
  if (!has(LRA_CAP_TF32)) {
    EXPECT_THROW(device->tf32_set({Tf32::kOn, Tf32::kLeave}), Error);
    return;
  }
  device->tf32_set({Tf32::kOn, Tf32::kLeave});
  EXPECT_EQ(device->tf32_get()->matmul, Tf32::kOn);
  EXPECT_EQ(device->tf32_get()->convolution, Tf32::kOff);
}

/// The largest error of a product of float32 matrices, relative to the largest sum of sizes in it.
double product_error(checker::Tensors& tensors) {
  constexpr std::int64_t kSize = 256;
  std::vector<float> a, b;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < kSize * kSize; ++i) {
    for (std::vector<float>* values : {&a, &b}) {
      state = state * 1664525U + 1013904223U;
      values->push_back(static_cast<float>(state >> 8) * 0x1p-23F - 1);
    }
  }
  const std::vector<float> found = tensors.product(kSize, a, b);
  double error = 0;
  double largest = 0;
  for (std::int64_t row = 0; row < kSize; ++row) {
    for (std::int64_t column = 0; column < kSize; ++column) {
      double sum = 0;
      double sizes = 0;
      for (std::int64_t i = 0; i < kSize; ++i) {
        const double term = static_cast<double>(a[row * kSize + i]) * b[i * kSize + column];
        sum += term;
        sizes += std::fabs(term);
      }
      error = std::max(error, std::fabs(found[row * kSize + column] - sum));
      largest = std::max(largest, sizes);
    }
  }
  return error / largest;
}

TEST_F(CudaDevice, MultipliesInFullFloat32OnlyWithTf32Off) {
  device->tf32_set({Tf32::kOff, Tf32::kOff});
  EXPECT_LT(product_error(*tensors), 1e-6);
  if (!has(LRA_CAP_TF32)) GTEST_SKIP() << "no TF32 on " << device->device_info().name;
  device->tf32_set({Tf32::kOn, Tf32::kOn});
  const double with_tf32 = product_error(*tensors);
  EXPECT_GT(with_tf32, 5e-6) << "TF32 is set and not used";
  EXPECT_LT(with_tf32, 1e-3) << "10 bits of each factor";
  device->tf32_set({Tf32::kOff, Tf32::kOff});
  EXPECT_LT(product_error(*tensors), 1e-6) << "off again";
}

TEST_F(CudaDevice, ComputesInThePrecisionOfTheScope) {
  const std::pair<Precision, checker::Type> precisions[] = {{Precision::kBFloat16, checker::Type::kBFloat16},
                                                            {Precision::kFloat16, checker::Type::kFloat16}};
  for (const auto& [precision, type] : precisions) {
    EXPECT_NE(device->autocast_query(precision).support, Support::kNone);
    const std::uint64_t token = device->autocast_enter(precision);
    EXPECT_EQ(tensors->result_type(checker::Operator::kLinear, type), type);
    EXPECT_EQ(tensors->result_type(checker::Operator::kConv2d, type), type);
    EXPECT_EQ(tensors->result_type(checker::Operator::kSoftmax, type), checker::Type::kFloat32);
    device->autocast_exit(token);
    EXPECT_EQ(tensors->result_type(checker::Operator::kLinear, type), checker::Type::kFloat32);
  }
  device->synchronize();
}

TEST_F(CudaDevice, TrainsInFp16AndInBf16WhereItsUnitsHaveThem) {
  const std::uint64_t bits = device->device_info().capabilities;
  EXPECT_NE(judge_precision(Precision::kFloat16, bits).verdict, Verdict::kRefused);
  EXPECT_EQ(judge_precision(Precision::kBFloat16, bits).verdict == Verdict::kNative, has(LRA_CAP_BF16_NATIVE));
}

TEST_F(CudaDevice, UnscalesGradientsAndFlagsAnOverflow) {
  const auto gradient = tensors->make(checker::Type::kFloat32, {3}, {65536, -131072, 3});
  const auto half = tensors->make(checker::Type::kFloat16, {1}, {2});
  const auto found_inf = tensors->make(checker::Type::kFloat32, {1}, {0});
  const auto inv_scale = tensors->make(checker::Type::kFloat32, {1}, {1.0F / 65536});
  const std::vector<TensorView> views = {gradient->view(), half->view()};
  device->scaler_unscale(views, found_inf->view(), inv_scale->view());
  EXPECT_EQ(gradient->values(), (std::vector<float>{1, -2, 3.0F / 65536}));
  EXPECT_EQ(half->values(), (std::vector<float>{2.0F / 65536}));
  EXPECT_EQ(found_inf->values(), (std::vector<float>{0}));
  const auto bad = tensors->make(checker::Type::kFloat32, {2}, {1, std::numeric_limits<float>::infinity()});
  device->scaler_unscale(std::vector<TensorView>{bad->view()}, found_inf->view(), inv_scale->view());
  device->scaler_unscale(views, found_inf->view(), inv_scale->view());
  EXPECT_EQ(found_inf->values(), (std::vector<float>{1})) << "it stays raised";
}

TEST_F(CudaDevice, FollowsTheRuleOfTheScale) {
  const auto scale = tensors->make(checker::Type::kFloat32, {1}, {4});
  const auto tracker = tensors->make(checker::Type::kInt32, {1}, {0});
  std::vector<std::pair<float, float>> path;
  for (const float overflow : {0, 1, 0, 0, 0, 0}) {
    const auto found_inf = tensors->make(checker::Type::kFloat32, {1}, {overflow});
    device->scaler_update(scale->view(), tracker->view(), found_inf->view(), {2.0, 0.5, 2});
    path.emplace_back(scale->values()[0], tracker->values()[0]);
  }
  EXPECT_EQ(path, (std::vector<std::pair<float, float>>{{4, 1}, {2, 0}, {2, 1}, {4, 0}, {4, 1}, {8, 0}}));
}

TEST_F(CudaDevice, CountsItsMemory) {
  const auto stats = device->memory_stats();
  ASSERT_TRUE(stats);
  EXPECT_GT(stats->cached_peak, 0u) << "the selftest had tensors";
  EXPECT_GT(stats->total, stats->free);
}

}  // namespace
}  // namespace lerobot::accel
