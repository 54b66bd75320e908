// The xpu probe against a Level Zero that is programmed by environment variables.
#include <gmock/gmock.h>
#include <lerobot_accel.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/plugins/fake_machine.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using accel::ProbeResult;
using testing::AllOf;
using testing::HasSubstr;

class XpuProbe : public testing::Test {
 protected:
  /// Loader and driver installed; `drivers` as level_zero.c reads them.
  void install(const std::string& drivers, const std::string& loader = "ze_loader.so") {
    machine_.install("level_zero/" + loader, "libze_loader.so.1");
    machine_.install("level_zero/ze_intel_gpu.so", "libze_intel_gpu.so.1");
    machine_.set("FAKE_ZE_DRIVERS", drivers);
  }
  /// A torch in ROOT/env/lib/python3.12/site-packages/torch/lib, built for XPU with this SYCL library; "" for another.
  void add_torch(const std::string& version, const std::string& sycl) {
    const fs::path directory = machine_.root() / "env/lib/python3.12/site-packages/torch/lib";
    write_file(directory / "libtorch_cpu.so", "");
    if (!sycl.empty()) {
      write_file(directory / "libtorch_xpu.so", "");
      write_file(directory / "libc10_xpu.so", std::string("libc10.so\0", 10) + sycl + std::string("\0rest", 5));
    }
    machine_.request.torch_directory = directory;
    machine_.request.torch_version = version;
  }
  std::string text() { return answer(machine_.probe(), machine_); }

  FakeMachine machine_{"xpu"};
};

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST_F(XpuProbe, DescribesDiscreteCards) {
  install("pvc,a770,npu");
  const ProbeResult result = machine_.probe();
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
  const ProbeResult result = machine_.probe();
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
  const ProbeResult result = machine_.probe();
  ASSERT_EQ(result.devices.size(), 2u) << result.reason;
  EXPECT_EQ(result.devices[0].name, "Intel(R) Arc(TM) B580 Graphics");
  EXPECT_EQ(result.devices[1].name, "Intel(R) Data Center GPU Max 1100");
  EXPECT_THAT(result.reason, HasSubstr("2 of 5 GPUs are used: torch takes the discrete cards of one driver"));
}

TEST_F(XpuProbe, OfADriverThatKnowsNoIpVersionClaimsNothing) {
  install("old");
  const ProbeResult result = machine_.probe();
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].architecture, "");
  EXPECT_NE(result.devices[0].capabilities & LRA_CAP_BF16_EMULATED, 0u);
}

TEST_F(XpuProbe, WithoutALoaderNamesLoaderAndDriver) {
  EXPECT_EQ(text(),
            "[no-driver] the Level Zero loader libze_loader.so.1 is not installed -> Install the Level Zero loader: "
            "package level-zero (libze1 on Debian), and the driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

TEST_F(XpuProbe, WithoutALoaderTellsOfACardThatIsThere) {
  machine_.add_card("0x8086");
  EXPECT_THAT(text(), HasSubstr("is not installed; the kernel has a graphics node: /dev/dri/renderD128"));
}

TEST_F(XpuProbe, WithALoaderAndNoDriverNamesTheDriver) {
  machine_.install("level_zero/ze_loader.so", "libze_loader.so.1");
  EXPECT_EQ(text(),
            "[no-driver] the Level Zero loader finds no driver: libze_intel_gpu.so.1 is not installed -> Install "
            "Intel's compute driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

TEST_F(XpuProbe, NamesTheLibraryThatTheDriverMisses) {
  machine_.install("level_zero/ze_loader.so", "libze_loader.so.1");
  machine_.install("level_zero/ze_needs_igc.so", "libze_intel_gpu.so.1");
  EXPECT_EQ(text(),
            "[library-missing] libigc.so.2, which libze_intel_gpu.so.1 needs, is not installed -> Install the driver's "
            "compiler: package intel-igc-core (libigc2)");
}

TEST_F(XpuProbe, NamesTheLibraryThatTheLoaderMisses) {
  machine_.install("level_zero/ze_needs_igc.so", "libze_loader.so.1");
  EXPECT_THAT(text(), HasSubstr("[library-missing] libigc.so.2, which libze_loader.so.1 needs, is not installed"));
}

TEST_F(XpuProbe, OfALoaderThatIsNoLibraryGivesTheLoadersWords) {
  write_file(machine_.root() / "libraries/libze_loader.so.1", "no library");
  EXPECT_THAT(text(), AllOf(HasSubstr("[other] libze_loader.so.1 does not open"), HasSubstr("file too short")));
}

TEST_F(XpuProbe, RefusesALoaderWithoutAFunction) {
  install("a770", "ze_loader_old.so");
  EXPECT_EQ(
      text(),
      "[driver-too-old] the Level Zero loader libze_loader.so.1 has no zeDevicePciGetPropertiesExt, needed 1.3 or "
      "newer -> Update the loader: package level-zero (libze1 on Debian)");
}

TEST_F(XpuProbe, RefusesAnOldDriver) {
  install("a770");
  machine_.set("FAKE_ZE_API", "1.2");
  EXPECT_EQ(text(),
            "[driver-too-old] Intel's driver speaks Level Zero 1.2, needed 1.3 or newer -> Update Intel's compute "
            "driver: package intel-level-zero-gpu (libze-intel-gpu1)");
}

TEST_F(XpuProbe, RefusesALoaderAndADriverThatDoNotFit) {
  install("a770");
  machine_.set("FAKE_ZE_FAIL", "zeInit=78000002");
  EXPECT_THAT(text(), AllOf(HasSubstr("[driver-too-old] the Level Zero loader and Intel's driver do not fit"),
                            HasSubstr("zeInit: ZE_RESULT_ERROR_UNSUPPORTED_VERSION")));
}

TEST_F(XpuProbe, OfADriverThatMissesADependencyNamesThePackages) {
  install("a770");
  machine_.set("FAKE_ZE_FAIL", "zeInit=70020000");
  EXPECT_THAT(text(), AllOf(HasSubstr("[library-missing]"), HasSubstr("ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE"),
                            HasSubstr("libigdgmm12")));
}

TEST_F(XpuProbe, OfADriverThatFailsGivesCallAndResult) {
  install("a770");
  machine_.set("FAKE_ZE_FAIL", "zeDeviceGetProperties=70000001");
  EXPECT_THAT(text(), HasSubstr("[other] Intel's driver answers with an error: zeDeviceGetProperties: "
                                "ZE_RESULT_ERROR_DEVICE_LOST"));
}

TEST_F(XpuProbe, OfADriverThatCountsWronglyIsAFailure) {
  install("a770");
  machine_.set("FAKE_ZE_COUNT", "4000000000");
  EXPECT_THAT(text(), AllOf(HasSubstr("[failed]"), HasSubstr("zeDeviceGet answers 4000000000 elements")));
}

TEST_F(XpuProbe, OfAMachineWithoutAnIntelGpuSaysSo) {
  install("");
  machine_.add_card("0x1002");
  EXPECT_EQ(text(),
            "[no-device] Intel's driver is installed and sees no Intel GPU -> Nothing to do on a machine without one; "
            "else check the kernel's i915 or xe driver");
}

TEST_F(XpuProbe, OfAMaskOnAMachineWithoutAGpuDoesNotBlameTheMask) {
  install("");
  machine_.set("ZE_AFFINITY_MASK", "1");
  EXPECT_THAT(text(), HasSubstr("[no-device]"));
}

TEST_F(XpuProbe, NamesAMaskThatHidesEveryCard) {
  install("a770");
  machine_.add_card("0x8086");
  machine_.set("ZE_AFFINITY_MASK", "3");
  EXPECT_EQ(text(),
            "[hidden] ZE_AFFINITY_MASK=3 hides every Intel GPU; the kernel has /dev/dri/renderD128 -> Unset "
            "ZE_AFFINITY_MASK, or name a device that is there (they count from 0)");
}

TEST_F(XpuProbe, HonoursAMaskThatLeavesACard) {
  install("a770,b580");
  machine_.set("ZE_AFFINITY_MASK", "1");
  const ProbeResult result = machine_.probe();
  ASSERT_EQ(result.devices.size(), 1u) << result.reason;
  EXPECT_EQ(result.devices[0].name, "Intel(R) Arc(TM) B580 Graphics");
}

TEST_F(XpuProbe, NamesASelectorThatHidesEveryCard) {
  install("a770,b580");
  machine_.set("ONEAPI_DEVICE_SELECTOR", "opencl:gpu");
  EXPECT_EQ(text(),
            "[hidden] ONEAPI_DEVICE_SELECTOR=opencl:gpu hides every Intel GPU; Level Zero has Intel(R) Arc(TM) A770 "
            "Graphics and 1 more -> Unset ONEAPI_DEVICE_SELECTOR, or let one through: level_zero:0");
}

TEST_F(XpuProbe, HonoursASelectorThatLeavesACard) {
  install("a770,b580");
  machine_.set("ONEAPI_DEVICE_SELECTOR", "level_zero:1");
  const ProbeResult result = machine_.probe();
  ASSERT_EQ(result.devices.size(), 1u) << result.reason;
  EXPECT_EQ(result.devices[0].name, "Intel(R) Arc(TM) B580 Graphics");
  EXPECT_THAT(result.reason, HasSubstr("1 of 2 GPUs are used: ONEAPI_DEVICE_SELECTOR=level_zero:1"));
}

TEST_F(XpuProbe, OfACardThatTheDriverDoesNotKnowSaysSo) {
  install("");
  machine_.add_card("0x8086");
  EXPECT_EQ(
      text(),
      "[no-device] libze_intel_gpu.so.1 knows no GPU behind /dev/dri/renderD128 (zeInit: "
      "ZE_RESULT_ERROR_UNINITIALIZED) -> Update Intel's compute driver; cards older than 12th generation need its "
      "legacy package");
}

TEST_F(XpuProbe, OfACardWhoseNodeIsNotInTheContainerSaysSo) {
  install("");
  machine_.add_card("0x8086", false);
  EXPECT_EQ(text(),
            "[no-device] an Intel GPU is there, its node /dev/dri/renderD128 is not: it was not passed in -> In a "
            "container, start it with --device /dev/dri");
}

/// What starts the probe as a user without rights; empty where this process cannot.
fs::path helper_without_rights(const fs::path& directory) {
  if (::geteuid() != 0) return accel::probe_helper();
  const std::string drop = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
  const std::string helper = "'" + accel::probe_helper().string() + "'";
  if (std::system((drop + "test -x " + helper + " 2>/dev/null").c_str()) != 0) return {};
  const fs::path script = directory / "helper";
  write_file(script, "#!/bin/sh\nexec " + drop + helper + " \"$@\"\n");
  fs::permissions(script, fs::perms(0755));
  return script;
}

TEST_F(XpuProbe, OfANodeThatThisUserMayNotOpenGivesTheGroup) {
  install("");
  machine_.add_card("0x8086");
  const fs::path node = machine_.root() / "dev/dri/renderD128";
  ::chmod(node.c_str(), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(node.c_str(), 0, 4321), 0) << "a group such as render nodes have";
  }
  const fs::path helper = helper_without_rights(machine_.root());
  if (helper.empty()) GTEST_SKIP() << "needs setpriv, and a build tree that everybody may read";
  struct stat status {};
  ::stat(node.c_str(), &status);
  const std::string group = std::to_string(status.st_gid);
  const std::string found = answer(machine_.probe(std::chrono::seconds(20), helper), machine_);
  EXPECT_THAT(found, HasSubstr("[not-permitted] this user may not open the GPU's node: ROOT/dev/dri/renderD128 is of "
                               "group " +
                               group + ", mode 000; this user's groups: "));
  EXPECT_THAT(found, HasSubstr("start a container with --group-add " + group));
}

TEST_F(XpuProbe, RefusesATorchOfAnotherBuild) {
  install("a770");
  add_torch("2.11.0+cu130", "");
  EXPECT_EQ(text(),
            "[torch] torch 2.11.0+cu130 in ROOT/env/lib/python3.12/site-packages/torch/lib has no libtorch_xpu.so: it "
            "is not built for Intel GPUs -> Install torch's XPU build (its version ends in +xpu) in an environment of "
            "its own and name its torch/lib with --torch_dir or LEROBOT_TORCH_DIR");
}

TEST_F(XpuProbe, NamesTheSyclLibraryThatTorchMisses) {
  install("a770");
  add_torch("2.11.0+xpu", "libsycl.so.8");
  EXPECT_EQ(text(),
            "[library-missing] libsycl.so.8, which libc10_xpu.so of torch needs, is not installed -> Install the SYCL "
            "run time: torch's XPU wheels bring it as package intel-sycl-rt");
}

TEST_F(XpuProbe, FindsTheSyclLibraryInTorchsEnvironment) {
  install("a770");
  add_torch("2.11.0+xpu", "libsycl.so.8");
  write_file(machine_.root() / "env/lib/libsycl.so.8", "");
  EXPECT_TRUE(machine_.probe().usable) << text();
}

TEST_F(XpuProbe, ComparesArchitecturesWithTheBuilds) {
  install("a770");
  machine_.request.device_archs = "pvc;bmg-g21";
  EXPECT_THAT(text(),
              HasSubstr("[architecture] Intel(R) Arc(TM) A770 Graphics is acm-g10; the package has code for pvc, "
                        "bmg-g21"));
  machine_.request.device_archs = "pvc;acm-g10";
  EXPECT_TRUE(machine_.probe().usable);
}

TEST_F(XpuProbe, ThatCrashesInTheDriverIsAReason) {
  install("a770");
  machine_.set("FAKE_ZE_CRASH", "zeDeviceGetProperties");
  EXPECT_THAT(machine_.probe().reason, HasSubstr("its probe crashed"));
}

TEST_F(XpuProbe, ThatHangsInTheDriverIsEnded) {
  install("a770");
  machine_.set("FAKE_ZE_HANG", "zeInit");
  EXPECT_THAT(machine_.probe(std::chrono::milliseconds(300)).reason, HasSubstr("no answer within 0.3 s"));
}

}  // namespace
}  // namespace lerobot::test
