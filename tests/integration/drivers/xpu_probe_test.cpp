// The xpu probe against a Level Zero that is programmed by environment variables.
#include <gmock/gmock.h>
#include <unistd.h>

#include "plugin-api/include/lerobot_accel.h"
#include "tests/integration/drivers/driver_probe.h"

namespace lerobot::test {
namespace {

using accel::ProbeResult;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class XpuProbe : public DriverProbe {
 protected:
  XpuProbe() : DriverProbe("xpu") {}

  /// What the loader finds: fake drivers by ':'.
  void find(const std::string& drivers) { variables_["LD_LIBRARY_PATH"] = drivers; }
  /// Loader and driver installed; `drivers` as level_zero.c reads them.
  void install(const std::string& drivers, const std::string& loader = "ze_loader") {
    find(fake_driver(loader) + ":" + fake_driver("ze_intel_gpu"));
    variables_["FAKE_ZE_DRIVERS"] = drivers;
  }
  /// A torch built for XPU with this SYCL library; "" for another.
  void add_torch(const std::string& version, const std::string& sycl) {
    if (sycl.empty()) return DriverProbe::add_torch({"libtorch_cpu.so"}, version);
    DriverProbe::add_torch({"libtorch_cpu.so", "libtorch_xpu.so"}, version);
    write_file(request_.torch_directory / "libc10_xpu.so",
               std::string("libc10.so\0", 10) + sycl + std::string("\0rest", 5));
  }
  /// A graphics card of PCI vendor `vendor` behind /dev/dri/renderD128, and its node unless `node` is false.
  void add_card(const std::string& vendor, bool node = true) {
    add_file("/sys/class/drm/renderD128/device/vendor", vendor + "\n");
    if (node) add_file("/dev/dri/renderD128");
  }
  std::string text() { return answer_text(probe()); }
};

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST_F(XpuProbe, DescribesDiscreteCards) {
  install("pvc,a770,npu");
  const ProbeResult result = probe();
  ASSERT_TRUE(result.usable) << result.reason << result.output;
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.driver_version, "1.6.33578");
  ASSERT_EQ(result.devices.size(), 2u);
  EXPECT_EQ(result.devices[0].name, "Intel(R) Data Center GPU Max 1100");
  EXPECT_EQ(result.devices[0].pci_address, "0000:a3:00.0");
  EXPECT_EQ(result.devices[0].uuid, "86800000-0000-0000-0000-000000000000");
  EXPECT_EQ(result.devices[0].architecture, "pvc");
  EXPECT_EQ(result.devices[0].memory_total, 48 * kGiB);
  EXPECT_EQ(result.devices[0].capabilities, LRA_CAP_FLOAT64 | LRA_CAP_BF16_NATIVE | LRA_CAP_FP16_NATIVE | LRA_CAP_TF32);
  EXPECT_EQ(result.devices[1].name, "Intel(R) Arc(TM) A770 Graphics");
  EXPECT_EQ(result.devices[1].pci_address, "0000:a4:00.0");
  EXPECT_EQ(result.devices[1].architecture, "acm-g10");
  EXPECT_EQ(result.devices[1].capabilities, LRA_CAP_BF16_NATIVE | LRA_CAP_FP16_NATIVE) << "no float64, no TF32";
}

TEST_F(XpuProbe, DescribesIntegratedGraphicsWithARemark) {
  install("igpu");
  const ProbeResult result = probe();
  ASSERT_TRUE(result.usable) << result.reason;
  EXPECT_EQ(result.reason,
            "integrated graphics, with the host's memory; Intel(R) Iris(R) Xe Graphics is not known to have matrix "
            "units (XMX): bf16 works, slowly");
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].architecture, "12.3.0");
  EXPECT_EQ(result.devices[0].capabilities, LRA_CAP_UNIFIED_MEMORY | LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE);
}

TEST_F(XpuProbe, ListsWhatTorchListsInItsOrder) {
  install("igpu;igpu,b580,pvc;a770");
  const ProbeResult result = probe();
  ASSERT_EQ(result.devices.size(), 2u) << result.reason;
  EXPECT_EQ(result.devices[0].name, "Intel(R) Arc(TM) B580 Graphics");
  EXPECT_EQ(result.devices[1].name, "Intel(R) Data Center GPU Max 1100");
  EXPECT_THAT(result.reason, HasSubstr("2 of 5 GPUs are used: torch takes the discrete cards of one driver"));
}

TEST_F(XpuProbe, OfADriverThatKnowsNoIpVersionClaimsNothing) {
  install("old");
  const ProbeResult result = probe();
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].architecture, "");
  EXPECT_NE(result.devices[0].capabilities & LRA_CAP_BF16_EMULATED, 0u);
}

TEST_F(XpuProbe, WithoutALoaderNamesLoaderAndDriver) {
  EXPECT_EQ(text(),
            "no-driver: the Level Zero loader libze_loader.so.1 is not installed | Install the Level Zero loader: "
            "package level-zero (libze1 on Debian), and the driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

TEST_F(XpuProbe, WithoutALoaderTellsOfACardThatIsThere) {
  add_card("0x8086");
  EXPECT_THAT(text(), HasSubstr("is not installed; the kernel has a graphics node: /dev/dri/renderD128"));
}

TEST_F(XpuProbe, WithALoaderAndNoDriverNamesTheDriver) {
  find(fake_driver("ze_loader"));
  EXPECT_EQ(text(),
            "no-driver: the Level Zero loader finds no driver: libze_intel_gpu.so.1 is not installed | Install "
            "Intel's compute driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

TEST_F(XpuProbe, NamesTheLibraryThatTheDriverMisses) {
  find(fake_driver("ze_loader") + ":" + fake_driver("ze_intel_gpu_missing_dependency"));
  EXPECT_EQ(text(),
            "library-missing: libigc.so.2, which libze_intel_gpu.so.1 needs, is not installed | Install the driver's "
            "compiler: package intel-igc-core (libigc2)");
}

TEST_F(XpuProbe, NamesTheLibraryThatTheLoaderMisses) {
  find(fake_driver("ze_loader_missing_dependency"));
  EXPECT_THAT(text(), StartsWith("library-missing: libigc.so.2, which libze_loader.so.1 needs, is not installed"));
}

TEST_F(XpuProbe, OfALoaderThatIsNoLibraryGivesTheLoadersWords) {
  write_file(directory_.path() / "driver/libze_loader.so.1", "no library");
  find((directory_.path() / "driver").string());
  EXPECT_THAT(text(), AllOf(StartsWith("other: libze_loader.so.1 does not open"), HasSubstr("file too short")));
}

TEST_F(XpuProbe, RefusesALoaderWithoutAFunction) {
  install("a770", "ze_loader_missing_symbol");
  EXPECT_EQ(text(),
            "driver-too-old: the Level Zero loader libze_loader.so.1 has no zeDevicePciGetPropertiesExt, needed 1.3 or "
            "newer | Update the loader: package level-zero (libze1 on Debian)");
}

TEST_F(XpuProbe, RefusesAnOldDriver) {
  install("a770");
  variables_["FAKE_ZE_API"] = "1.2";
  EXPECT_EQ(text(),
            "driver-too-old: Intel's driver speaks Level Zero 1.2, needed 1.3 or newer | Update Intel's compute "
            "driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

TEST_F(XpuProbe, RefusesALoaderAndADriverThatDoNotFit) {
  install("a770");
  variables_["FAKE_ZE_FAIL"] = "zeInit=0x78000002";
  EXPECT_THAT(text(), AllOf(StartsWith("driver-too-old: the Level Zero loader and Intel's driver do not fit"),
                            HasSubstr("zeInit: ZE_RESULT_ERROR_UNSUPPORTED_VERSION")));
}

TEST_F(XpuProbe, OfADriverThatMissesADependencyNamesThePackages) {
  install("a770");
  variables_["FAKE_ZE_FAIL"] = "zeInit=0x70020000";
  EXPECT_THAT(text(), AllOf(StartsWith("library-missing: "), HasSubstr("ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE"),
                            HasSubstr("libigdgmm12")));
}

TEST_F(XpuProbe, OfADriverThatFailsGivesCallAndResult) {
  install("a770");
  variables_["FAKE_ZE_FAIL"] = "zeDeviceGetProperties=0x70000001";
  EXPECT_THAT(text(), StartsWith("other: Intel's driver answers with an error: zeDeviceGetProperties: "
                                 "ZE_RESULT_ERROR_DEVICE_LOST"));
}

TEST_F(XpuProbe, OfADriverThatCountsWronglyIsAFailure) {
  install("a770");
  variables_["FAKE_ZE_COUNT"] = "4000000000";
  EXPECT_THAT(text(), AllOf(StartsWith("failed: "), HasSubstr("zeDeviceGet answers 4000000000 elements")));
}

TEST_F(XpuProbe, OfAMachineWithoutAnIntelGpuSaysSo) {
  install("");
  add_card("0x1002");
  EXPECT_EQ(text(),
            "no-device: Intel's driver is installed and sees no Intel GPU | Nothing to do on a machine without one; "
            "else check the kernel's i915 or xe driver");
}

TEST_F(XpuProbe, OfAMaskOnAMachineWithoutAGpuDoesNotBlameTheMask) {
  install("");
  variables_["ZE_AFFINITY_MASK"] = "1";
  EXPECT_THAT(text(), StartsWith("no-device: "));
}

TEST_F(XpuProbe, NamesAMaskThatHidesEveryCard) {
  install("a770");
  add_card("0x8086");
  variables_["ZE_AFFINITY_MASK"] = "3";
  EXPECT_EQ(text(),
            "hidden: ZE_AFFINITY_MASK=3 hides every Intel GPU; the kernel has /dev/dri/renderD128 | Unset "
            "ZE_AFFINITY_MASK, or name a device that is there (they count from 0)");
}

TEST_F(XpuProbe, HonoursAMaskThatLeavesACard) {
  install("a770,b580");
  variables_["ZE_AFFINITY_MASK"] = "1";
  const ProbeResult result = probe();
  ASSERT_EQ(result.devices.size(), 1u) << result.reason;
  EXPECT_EQ(result.devices[0].name, "Intel(R) Arc(TM) B580 Graphics");
}

TEST_F(XpuProbe, NamesASelectorThatHidesEveryCard) {
  install("a770,b580");
  variables_["ONEAPI_DEVICE_SELECTOR"] = "opencl:gpu";
  EXPECT_EQ(text(),
            "hidden: ONEAPI_DEVICE_SELECTOR=opencl:gpu hides every Intel GPU; Level Zero has Intel(R) Arc(TM) A770 "
            "Graphics and 1 more | Unset ONEAPI_DEVICE_SELECTOR, or let one through: level_zero:0");
}

TEST_F(XpuProbe, HonoursASelectorThatLeavesACard) {
  install("a770,b580");
  variables_["ONEAPI_DEVICE_SELECTOR"] = "level_zero:1";
  const ProbeResult result = probe();
  ASSERT_EQ(result.devices.size(), 1u) << result.reason;
  EXPECT_EQ(result.devices[0].name, "Intel(R) Arc(TM) B580 Graphics");
  EXPECT_THAT(result.reason, HasSubstr("1 of 2 GPUs are used: ONEAPI_DEVICE_SELECTOR=level_zero:1"));
}

TEST_F(XpuProbe, OfACardThatTheDriverDoesNotKnowSaysSo) {
  install("");
  add_card("0x8086");
  EXPECT_EQ(text(),
            "no-device: libze_intel_gpu.so.1 knows no GPU behind /dev/dri/renderD128 (zeInit: "
            "ZE_RESULT_ERROR_UNINITIALIZED) | Update Intel's compute driver; cards older than 12th generation need its "
            "legacy package");
}

TEST_F(XpuProbe, OfACardWhoseNodeIsNotInTheContainerSaysSo) {
  install("");
  add_card("0x8086", false);
  EXPECT_EQ(text(),
            "no-device: an Intel GPU is there, its node /dev/dri/renderD128 is not: it was not passed in | In a "
            "container, start it with --device /dev/dri");
}

TEST_F(XpuProbe, OfANodeThatThisUserMayNotOpenGivesTheGroup) {
  if (!can_ask_as_nobody()) GTEST_SKIP() << kNeedsNobody;
  install("");
  add_card("0x8086");
  forbid(machine_ / "dev/dri/renderD128", 4321);  // a group such as render nodes have
  const std::string group = std::to_string(::geteuid() == 0 ? 4321 : ::getegid());
  const std::string found = answer_text(probe({}, /*as_nobody=*/true));
  EXPECT_THAT(found, StartsWith("not-permitted: this user may not open the GPU's node: " + machine_.string() +
                                "/dev/dri/renderD128 is of group " + group + ", mode 000; this user's groups: "));
  EXPECT_THAT(found, HasSubstr("start a container with --group-add " + group));
}

TEST_F(XpuProbe, RefusesATorchOfAnotherBuild) {
  install("a770");
  add_torch("2.11.0+cu130", "");
  EXPECT_EQ(text(), "torch: torch 2.11.0+cu130 in " + request_.torch_directory.string() +
                        " has no libtorch_xpu.so: it is not built for Intel GPUs | Install torch's XPU build (its "
                        "version ends in +xpu) in an environment of its own and name its torch/lib with --torch_dir or "
                        "LEROBOT_TORCH_DIR");
}

TEST_F(XpuProbe, NamesTheSyclLibraryThatTorchMisses) {
  install("a770");
  add_torch("2.11.0+xpu", "libsycl.so.8");
  EXPECT_EQ(text(),
            "library-missing: libsycl.so.8, which libc10_xpu.so of torch needs, is not installed | Install the SYCL "
            "run time: torch's XPU wheels bring it as package intel-sycl-rt");
}

TEST_F(XpuProbe, FindsTheSyclLibraryInTorchsEnvironment) {
  install("a770");
  add_torch("2.11.0+xpu", "libsycl.so.8");
  write_file(request_.torch_directory / "../../../../libsycl.so.8", "");
  EXPECT_TRUE(probe().usable) << text();
}

TEST_F(XpuProbe, ComparesArchitecturesWithTheBuilds) {
  install("a770");
  request_.device_archs = "pvc;bmg-g21";
  EXPECT_THAT(text(),
              StartsWith("architecture: Intel(R) Arc(TM) A770 Graphics is acm-g10; the package has code for pvc, "
                         "bmg-g21"));
  request_.device_archs = "pvc;acm-g10";
  EXPECT_TRUE(probe().usable);
}

TEST_F(XpuProbe, ThatCrashesInTheDriverIsAReason) {
  install("a770");
  variables_["FAKE_ZE_CRASH"] = "zeDeviceGetProperties";
  EXPECT_THAT(probe().reason, HasSubstr("its probe crashed"));
}

TEST_F(XpuProbe, ThatHangsInTheDriverIsEnded) {
  install("a770");
  variables_["FAKE_ZE_HANG"] = "zeInit";
  limit_ = std::chrono::milliseconds(300);
  EXPECT_THAT(probe().reason, HasSubstr("no answer within 0.3 s"));
}

}  // namespace
}  // namespace lerobot::test
