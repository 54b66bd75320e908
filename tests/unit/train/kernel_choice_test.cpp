#include "host/train/kernel_choice.h"

#include <gmock/gmock.h>

#include "host/base/error.h"

namespace lerobot::train {
namespace {

using accel::Precision;
using ::testing::HasSubstr;

TEST(KernelChoice, IsFastOnTheCpuInFloat32AndTheReferenceElsewhere) {
  EXPECT_EQ(choose_kernels("auto", c10::kCPU, Precision::kFloat32).kernels, Kernels::kFast);
  EXPECT_EQ(choose_kernels("fast", c10::kCPU, Precision::kFloat32).kernels, Kernels::kFast);
  EXPECT_EQ(choose_kernels("reference", c10::kCPU, Precision::kFloat32).kernels, Kernels::kReference);
  EXPECT_EQ(choose_kernels("auto", c10::kCPU, Precision::kBFloat16).kernels, Kernels::kReference);
  EXPECT_EQ(choose_kernels("auto", c10::kCUDA, Precision::kFloat32).kernels, Kernels::kReference);
  EXPECT_THAT(choose_kernels("auto", c10::kCUDA, Precision::kFloat16).reason, HasSubstr("cuda in"));
}

TEST(KernelChoice, RefusesFastKernelsWhereTheyAreNot) {
  try {
    choose_kernels("fast", c10::kCUDA, Precision::kBFloat16);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("--kernels=fast: found a run on cuda in"));
  }
}

}  // namespace
}  // namespace lerobot::train
