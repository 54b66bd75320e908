#include <gtest/gtest.h>

#include "plugins/xpu/selector.h"

namespace lerobot::plugins::xpu {
namespace {

TEST(OneApiDeviceSelector, LetsAllThroughWhenItIsEmpty) {
  EXPECT_TRUE(selects("", 0));
  EXPECT_TRUE(selects(";", 3));
}

TEST(OneApiDeviceSelector, TakesGpusByKindAndByNumber) {
  EXPECT_TRUE(selects("level_zero:gpu", 2));
  EXPECT_TRUE(selects("level_zero:*", 2));
  EXPECT_TRUE(selects("Level_Zero:0,2", 2));
  EXPECT_FALSE(selects("level_zero:0,2", 1));
  EXPECT_TRUE(selects("opencl:cpu;level_zero:1", 1));
  EXPECT_FALSE(selects("level_zero:1", 11));
}

TEST(OneApiDeviceSelector, TakesPartsOfAGpuAsTheGpu) {
  EXPECT_TRUE(selects("level_zero:1.0", 1));
  EXPECT_TRUE(selects("*:*.*", 1));
}

TEST(OneApiDeviceSelector, HidesWhatIsOfAnotherBackendOrKind) {
  EXPECT_FALSE(selects("opencl:gpu", 0));
  EXPECT_FALSE(selects("level_zero:npu", 0));
  EXPECT_FALSE(selects("*:cpu", 0));
}

TEST(OneApiDeviceSelector, DiscardsLast) {
  EXPECT_TRUE(selects("!level_zero:1", 0)) << "nothing but discards accepts the rest";
  EXPECT_FALSE(selects("!level_zero:1", 1));
  EXPECT_FALSE(selects("level_zero:gpu;!level_zero:0", 0));
  EXPECT_TRUE(selects("level_zero:gpu;!level_zero:0", 1));
}

}  // namespace
}  // namespace lerobot::plugins::xpu
