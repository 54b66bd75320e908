#include "host/accel/visibility.h"

#include <gmock/gmock.h>

namespace lerobot::accel {
namespace {

Manifest plugin(std::vector<std::string> device_types) {
  Manifest manifest;
  manifest.device_types = std::move(device_types);
  return manifest;
}

const Manifest kRocm = plugin({"cuda", "rocm"});
const Manifest kCuda = plugin({"cuda"});

TEST(VisibilityVariables, OnAmdAreNamedInTheOrderOfTheirApplication) {
  const auto amd = [](const Variables& variables) { return visibility_variables(kRocm, variables); };
  EXPECT_EQ(amd({}), "");
  EXPECT_EQ(amd({{"ROCR_VISIBLE_DEVICES", "0"}, {"HIP_VISIBLE_DEVICES", "1"}}),
            "ROCR_VISIBLE_DEVICES=0, then HIP_VISIBLE_DEVICES=1");
  EXPECT_EQ(amd({{"HIP_VISIBLE_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "0"}}), "HIP_VISIBLE_DEVICES=1");
  EXPECT_EQ(amd({{"HIP_VISIBLE_DEVICES", ""}, {"CUDA_VISIBLE_DEVICES", "0"}}), "CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(amd({{"CUDA_VISIBLE_DEVICES", "0,1"}}), "CUDA_VISIBLE_DEVICES=0,1");
  EXPECT_EQ(amd({{"ROCR_VISIBLE_DEVICES", "GPU-1f"}, {"CUDA_VISIBLE_DEVICES", ""}}),
            "ROCR_VISIBLE_DEVICES=GPU-1f, then CUDA_VISIBLE_DEVICES=");
}

TEST(VisibilityVariables, OfAnotherVendorDoNotCount) {
  const Variables all = {{"ROCR_VISIBLE_DEVICES", "0"}, {"HIP_VISIBLE_DEVICES", "0"}, {"ZE_AFFINITY_MASK", "0.1"}};
  EXPECT_EQ(visibility_variables(kCuda, all), "");
  EXPECT_EQ(visibility_variables(plugin({"xpu"}), all), "ZE_AFFINITY_MASK=0.1");
  EXPECT_EQ(visibility_variables(plugin({"cpu"}), all), "");
  EXPECT_EQ(visibility_variables(plugin({"foo"}), all), "");
}

TEST(VisibilityVariables, HideEveryDeviceWhenEmptyOrMinusOne) {
  EXPECT_TRUE(hides_every_device(kCuda, {{"CUDA_VISIBLE_DEVICES", ""}}));
  EXPECT_TRUE(hides_every_device(kCuda, {{"CUDA_VISIBLE_DEVICES", "-1"}}));
  EXPECT_FALSE(hides_every_device(kCuda, {{"CUDA_VISIBLE_DEVICES", "0"}}));
  EXPECT_FALSE(hides_every_device(kCuda, {}));
  EXPECT_TRUE(hides_every_device(kRocm, {{"ROCR_VISIBLE_DEVICES", "-1"}, {"HIP_VISIBLE_DEVICES", "0"}}));
}

}  // namespace
}  // namespace lerobot::accel
