#include <gtest/gtest.h>

#include "plugins/cuda/device.h"

namespace lerobot::plugins::cuda {
namespace {

using Archs = std::vector<std::string>;

TEST(CudaArchitecture, RunsMachineCodeOfItsMajorUpToItsMinor) {
  const Archs wheel = {"sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"};
  for (const char* arch :
       {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121"}) {
    EXPECT_TRUE(runs_on(wheel, arch)) << arch;
  }
  for (const char* arch : {"sm_50", "sm_61", "sm_70", "sm_72", "sm_110", "sm_130"})
    EXPECT_FALSE(runs_on(wheel, arch)) << arch;
  EXPECT_FALSE(runs_on({"sm_86"}, "sm_80")) << "code for a higher minor";
}

TEST(CudaArchitecture, RunsPortableCodeOfEveryOlderOne) {
  EXPECT_TRUE(runs_on({"compute_80"}, "sm_80"));
  EXPECT_TRUE(runs_on({"compute_80"}, "sm_120"));
  EXPECT_FALSE(runs_on({"compute_90"}, "sm_89"));
}

TEST(CudaArchitecture, RunsCodeWithAnAOnlyWhereItIsExact) {
  EXPECT_TRUE(runs_on({"sm_90a"}, "sm_90"));
  EXPECT_FALSE(runs_on({"sm_100a"}, "sm_103"));
  EXPECT_TRUE(runs_on({"sm_100f"}, "sm_103"));
  EXPECT_FALSE(runs_on({"compute_90a"}, "sm_100"));
}

TEST(CudaArchitecture, OfAnotherVendorRunsNothing) {
  EXPECT_FALSE(runs_on({"sm_90"}, "gfx942"));
  EXPECT_FALSE(runs_on({"gfx942"}, "sm_90"));
  EXPECT_FALSE(runs_on({}, "sm_90"));
  EXPECT_FALSE(runs_on({"compute_x", "sm_", "compute_"}, "sm_90"));
}

TEST(CudaDriverVersion, HoldsCudas) {
  EXPECT_EQ(supported_cuda("580.65.06 (CUDA 13.0)"), "13.0");
  EXPECT_EQ(supported_cuda("CUDA 12.2"), "12.2");
  EXPECT_EQ(supported_cuda(""), "");
}

}  // namespace
}  // namespace lerobot::plugins::cuda
