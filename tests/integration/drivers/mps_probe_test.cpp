// The mps probe against a Metal that is programmed by environment variables.
#include <gmock/gmock.h>
#include <sys/utsname.h>

#include "plugin-api/include/lerobot_accel.h"
#include "tests/integration/drivers/driver_probe.h"

namespace lerobot::test {
namespace {

using accel::ProbeResult;
using testing::HasSubstr;

class MpsProbe : public DriverProbe {
 protected:
  MpsProbe() : DriverProbe("mps") {}

  /// A Mac of this macOS version with these GPUs.
  void install(const std::string& macos, const std::string& gpus, const std::string& driver = "metal") {
    variables_ = {{"LD_LIBRARY_PATH", fake_driver(driver)}, {"FAKE_METAL_MACOS", macos}, {"FAKE_METAL_DEVICES", gpus}};
  }
  std::string text() { return answer_text(probe()); }
};

TEST_F(MpsProbe, OnLinuxSaysThatMetalIsNotForIt) {
  utsname system{};
  uname(&system);
  EXPECT_EQ(text(), std::string("no-driver: Metal exists on macOS only; this is Linux ") + system.machine +
                        " | Nothing to do; the package may be removed");
}

TEST_F(MpsProbe, DescribesAnAppleGpu) {
  install("14.5", "m3");
  const ProbeResult result = probe();
  ASSERT_TRUE(result.usable) << result.reason << result.output;
  EXPECT_EQ(result.driver_version, "macOS 14.5");
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].name, "Apple M3 Max");
  EXPECT_EQ(result.devices[0].architecture, "apple9");
  EXPECT_EQ(result.devices[0].memory_total, std::uint64_t{48} << 30);
  EXPECT_EQ(result.devices[0].capabilities, LRA_CAP_FP16_NATIVE | LRA_CAP_BF16_NATIVE | LRA_CAP_UNIFIED_MEMORY)
      << "and no float64";
}

TEST_F(MpsProbe, KnowsThatAnM1ConvertsBf16) {
  install("26.0", "m1");
  const ProbeResult result = probe();
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].capabilities, LRA_CAP_FP16_NATIVE | LRA_CAP_BF16_EMULATED | LRA_CAP_UNIFIED_MEMORY);
  EXPECT_EQ(result.devices[0].architecture, "apple7");
}

TEST_F(MpsProbe, TakesTheGpuThatTorchTakes) {
  install("14.0", "intel,radeon");
  const ProbeResult result = probe();
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].name, "AMD Radeon Pro 5500M");
  EXPECT_EQ(result.devices[0].architecture, "mac");
  EXPECT_EQ(result.devices[0].capabilities & LRA_CAP_UNIFIED_MEMORY, 0u);
}

TEST_F(MpsProbe, RefusesAnOldMacOs) {
  install("13.6.1", "m1");
  EXPECT_EQ(text(), "driver-too-old: macOS is 13.6.1, needed 14.0 or newer | Update macOS");
}

TEST_F(MpsProbe, RefusesAMacOsThatGivesNoVersion) {
  install("", "m1");
  EXPECT_EQ(text(), "driver-too-old: the version of macOS is not known, needed 14.0 or newer | Update macOS");
}

TEST_F(MpsProbe, RefusesAMetalWithoutTheList) {
  install("10.10", "m1", "metal_missing_symbol");
  EXPECT_EQ(text(), "driver-too-old: this system's Metal has no MTLCopyAllDevices | Update macOS to 14.0 or newer");
}

TEST_F(MpsProbe, WithoutAGpuSaysSo) {
  install("14.0", "");
  EXPECT_EQ(text(), "no-device: Metal knows no GPU | A virtual machine needs a graphics device that supports Metal");
}

TEST_F(MpsProbe, WithALowPowerGpuOnlyNamesIt) {
  install("14.0", "intel");
  EXPECT_EQ(text(),
            "no-device: torch does not take the low-power GPU Intel UHD Graphics 630, and there is no other | Train "
            "on the processor, or on a Mac with Apple's own chip");
}

TEST_F(MpsProbe, ThatCrashesInMetalIsAReason) {
  install("14.0", "m1");
  variables_["FAKE_METAL_CRASH"] = "name";
  EXPECT_THAT(probe().reason, HasSubstr("its probe crashed"));
}

TEST_F(MpsProbe, ThatHangsInMetalIsEnded) {
  install("14.0", "m1");
  variables_["FAKE_METAL_HANG"] = "count";
  limit_ = std::chrono::milliseconds(300);
  EXPECT_THAT(probe().reason, HasSubstr("no answer within 0.3 s"));
}

}  // namespace
}  // namespace lerobot::test
