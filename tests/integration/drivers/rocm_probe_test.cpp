// The rocm probe on a fake libamdhip64.so and a fake kernel: every reason with its cure, as users read them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin-api/include/lerobot_accel.h"
#include "tests/integration/drivers/driver_probe.h"

namespace lerobot::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kMi300x[] = "AMD Instinct MI300X|0|0000:43:00.0|206141652992";
constexpr char kW7900[] = "AMD Radeon PRO W7900|0|0000:C3:00.0|48301604864";

class RocmProbe : public DriverProbe {
 protected:
  RocmProbe() : DriverProbe("rocm") {}

  accel::ProbeResult ask(const std::string& devices, std::map<std::string, std::string> variables = {},
                         const std::string& driver = "hip", bool as_nobody = false) {
    variables.emplace("LD_LIBRARY_PATH", fake_driver(driver));
    variables.emplace("FAKE_HIP_DEVICES", devices);
    return probe(std::move(variables), as_nobody);
  }
  std::string text(const std::string& devices, const std::map<std::string, std::string>& variables = {},
                   const std::string& driver = "hip") {
    return answer_text(ask(devices, variables, driver));
  }

  /// The kernel's view: a processor, an MI300X and a W7900, with their nodes.
  void add_machine(bool with_nodes = true) {
    const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
    add_file(nodes + "0/properties", "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n");
    add_file(nodes + "1/properties",
             "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\nlocation_id 17152\ndomain 0\n"
             "drm_render_minor 128\n");
    add_file(nodes + "2/properties",
             "cpu_cores_count 0\nsimd_count 192\ngfx_target_version 110000\nlocation_id 49920\ndomain 0\n"
             "drm_render_minor 129\n");
    if (!with_nodes) return;
    for (const char* node : {"/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"}) add_file(node);
  }

  const std::string both_ = std::string(kMi300x) + ";" + kW7900;
};

TEST_F(RocmProbe, DescribesEachDevice) {
  add_machine();
  const accel::ProbeResult result = ask(both_);
  EXPECT_EQ(answer_text(result), "usable");
  EXPECT_EQ(result.driver_version, "HIP 7.0.51831");
  ASSERT_EQ(result.devices.size(), 2u);
  EXPECT_EQ(result.devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(result.devices[0].architecture, "gfx942");
  EXPECT_EQ(result.devices[0].pci_address, "0000:43:00.0");
  EXPECT_EQ(result.devices[0].uuid, "GPU-1111111111111111");
  EXPECT_EQ(result.devices[0].memory_total, 206141652992u);
  EXPECT_EQ(result.devices[0].capabilities, LRA_CAP_FLOAT64 | LRA_CAP_BF16_NATIVE | LRA_CAP_FP16_NATIVE);
  EXPECT_EQ(result.devices[1].architecture, "gfx1100");
  EXPECT_EQ(ask(both_, {{"HIPBLASLT_ALLOW_TF32", "1"}}).devices.at(0).capabilities & LRA_CAP_TF32, LRA_CAP_TF32);
}

TEST_F(RocmProbe, WithoutADriverSaysSo) {
  if (::dlopen("libamdhip64.so", RTLD_LAZY) != nullptr) GTEST_SKIP() << "this machine has ROCm";
  EXPECT_EQ(answer_text(probe({})),
            "no-driver: no AMD driver: libamdhip64.so is not installed and /dev/kfd is not there | With an AMD GPU in "
            "this machine, install ROCm and load the kernel module amdgpu");
  add_machine();
  EXPECT_EQ(answer_text(probe({})),
            "no-driver: the kernel's driver shows 2 GPUs (gfx942, gfx1100), but HIP's runtime libamdhip64.so is not "
            "installed | Name a torch built for ROCm (it brings the runtime) with LEROBOT_TORCH_DIR, or install ROCm");
}

TEST_F(RocmProbe, NamesTheLibraryThatTheRuntimeMisses) {
  EXPECT_THAT(text(both_, {}, "hip_missing_dependency"),
              StartsWith("library-missing: libfake_dependency.so, needed by libamdhip64.so.6, is not installed"));
}

TEST_F(RocmProbe, OfARuntimeWithoutAFunctionNamesIt) {
  EXPECT_EQ(
      text(both_, {}, "hip_missing_symbol"),
      "driver-too-old: libamdhip64.so.6 exports no hipDeviceTotalMem, which HIP 5 and later does | Install ROCm 6 "
      "or later");
}

TEST_F(RocmProbe, TakesTheRuntimeThatTorchBrings) {
  add_machine();
  add_torch({"libtorch_cpu.so", "libtorch_hip.so", "libc10_hip.so"}, "2.11.0+rocm7.1");
  std::filesystem::copy_file(fake_driver("hip") + "/libamdhip64.so.6", request_.torch_directory / "libamdhip64.so");
  EXPECT_EQ(text(both_, {{"LD_LIBRARY_PATH", fake_driver("hip_missing_symbol")}}), "usable");
}

TEST_F(RocmProbe, OfARuntimeThatIsTooOldSaysFoundAndNeeded) {
  add_machine();
  add_torch({"libtorch_cpu.so", "libtorch_hip.so", "libc10_hip.so"}, "2.11.0+rocm7.1");
  EXPECT_EQ(text(both_, {{"FAKE_HIP_VERSION", "60342134"}}),
            "driver-too-old: HIP 6.3.42134 is too old, torch 2.11.0+rocm7.1 in " + request_.torch_directory.string() +
                " needs ROCm 7.1 | Install ROCm 7, or use a torch built for ROCm 6");
  add_file("/sys/module/amdgpu/version", "6.3.6\n");
  EXPECT_EQ(text(both_, {{"FAKE_HIP_FAIL", "hipInit=35"}}),
            "driver-too-old: hipInit answers hipErrorInsufficientDriver (35): the kernel module amdgpu 6.3.6 is older "
            "than libamdhip64.so.6 needs | Update the kernel or the amdgpu driver");
}

TEST_F(RocmProbe, TellsApartWhyTheNodesGiveNoDevice) {
  EXPECT_EQ(
      text(""),
      "no-device: HIP's runtime knows no device and /dev/kfd is not there | With an AMD GPU in this machine, load "
      "the kernel module amdgpu");
  add_file("/sys/bus/pci/devices/0000:43:00.0/vendor", "0x1002\n");
  add_file("/sys/bus/pci/devices/0000:43:00.0/class", "0x120000\n");
  EXPECT_EQ(
      text(""),
      "no-device: an AMD GPU is on the bus, but /dev/kfd is not there | Load the kernel module (modprobe amdgpu). "
      "Start a container with --device=/dev/kfd --device=/dev/dri");
  add_machine(/*with_nodes=*/false);
  EXPECT_EQ(text(""),
            "no-device: /dev/kfd is not there, although the kernel's driver shows 2 GPUs (gfx942, gfx1100) | Start a "
            "container with --device=/dev/kfd --device=/dev/dri");
  add_file("/dev/kfd");
  EXPECT_THAT(text(""), StartsWith("no-device: /dev/kfd is there, but no render node in /dev/dri of 2 GPUs"));
  add_machine();
  EXPECT_EQ(
      text(""),
      "no-device: /dev/kfd may be used, but HIP's runtime lists no device; the kernel's driver shows 2 GPUs (gfx942, "
      "gfx1100) | ROCm may not support this GPU: see rocminfo");
}

TEST_F(RocmProbe, NamesANodeThatThisUserMayNotOpen) {
  if (!can_ask_as_nobody()) GTEST_SKIP() << kNeedsNobody;
  add_machine();
  forbid(machine_ / "dev/kfd", 992);
  const unsigned group = ::geteuid() == 0 ? 992 : ::getegid();
  const auto answer = [&](const char* node) {
    return AllOf(StartsWith("not-permitted: no permission: " + machine_.string() + node + " is of group " +
                            std::to_string(group) + ", mode 000; this user's groups: "),
                 HasSubstr("start a container with --group-add " + std::to_string(group)));
  };
  EXPECT_THAT(answer_text(ask(both_, {}, "hip", /*as_nobody=*/true)), answer("/dev/kfd"));

  ::chmod((machine_ / "dev/kfd").c_str(), 0666);
  forbid(machine_ / "dev/dri/renderD128", 992);
  forbid(machine_ / "dev/dri/renderD129", 992);
  EXPECT_THAT(answer_text(ask(both_, {}, "hip", /*as_nobody=*/true)), answer("/dev/dri/renderD128"));
  ::chmod((machine_ / "dev/dri/renderD129").c_str(), 0666);
  EXPECT_EQ(answer_text(ask(both_, {}, "hip", /*as_nobody=*/true)), "usable") << "one card may be used";
}

TEST_F(RocmProbe, NamesTheVariablesThatHideEveryDevice) {
  add_machine();
  constexpr char kRest[] =
      " hides every AMD device; the kernel's driver shows 2 GPUs (gfx942, gfx1100) | Set HIP_VISIBLE_DEVICES alone, to "
      "numbers that exist: 0";
  EXPECT_EQ(text(both_, {{"HIP_VISIBLE_DEVICES", "-1"}}), "hidden: HIP_VISIBLE_DEVICES=-1" + std::string(kRest));
  EXPECT_EQ(text(both_, {{"CUDA_VISIBLE_DEVICES", "-1"}}), "hidden: CUDA_VISIBLE_DEVICES=-1" + std::string(kRest));
  EXPECT_EQ(text(both_, {{"ROCR_VISIBLE_DEVICES", ""}}), "hidden: ROCR_VISIBLE_DEVICES=" + std::string(kRest));
  EXPECT_EQ(text(both_, {{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "1"}}),
            "hidden: ROCR_VISIBLE_DEVICES=1, then HIP_VISIBLE_DEVICES=1" + std::string(kRest));
}

TEST_F(RocmProbe, RemarksWhatTheVariablesLeave) {
  add_machine();
  EXPECT_EQ(text(both_, {{"HIP_VISIBLE_DEVICES", "1"}}),
            "usable: HIP_VISIBLE_DEVICES=1 leaves 1 of 2 GPUs (gfx942, gfx1100)");
  EXPECT_EQ(text(both_, {{"CUDA_VISIBLE_DEVICES", "0,1"}}),
            "usable: CUDA_VISIBLE_DEVICES=0,1 is honoured; prefer HIP_VISIBLE_DEVICES");
  EXPECT_EQ(text(both_, {{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}}),
            "usable: ROCR_VISIBLE_DEVICES=1, then HIP_VISIBLE_DEVICES=0: the second counts what the first leaves; "
            "ROCR_VISIBLE_DEVICES=1, then HIP_VISIBLE_DEVICES=0 leaves 1 of 2 GPUs (gfx942, gfx1100)");
  EXPECT_EQ(ask(both_, {{"HIP_VISIBLE_DEVICES", "1"}}).devices.at(0).architecture, "gfx1100");
}

TEST_F(RocmProbe, OfAnArchitectureThatTheBuildLacksNamesBoth) {
  add_machine();
  request_.device_archs = "gfx90a;gfx942";
  EXPECT_EQ(text(both_, {{"HIP_VISIBLE_DEVICES", "1"}}),
            "architecture: this build has no code for AMD Radeon PRO W7900 (gfx1100), only for gfx90a, gfx942 | Name a "
            "torch that has it with LEROBOT_TORCH_DIR; HSA_OVERRIDE_GFX_VERSION lets a near relative's code run");
  EXPECT_EQ(text(both_), "usable: this build has no code for AMD Radeon PRO W7900 (gfx1100), only for gfx90a, gfx942");
  EXPECT_EQ(text(kW7900, {{"HSA_OVERRIDE_GFX_VERSION", "9.4.2"}}),
            "usable: HSA_OVERRIDE_GFX_VERSION makes every device gfx942");
}

TEST_F(RocmProbe, ExplainsATorchThatAPlainInstallReplaced) {
  constexpr char kCure[] =
      " | Reinstall torch's ROCm build (a plain pip install torch puts another in its place), or name one with "
      "--torch_dir or LEROBOT_TORCH_DIR";
  add_machine();
  add_torch({"libtorch_cpu.so", "libtorch_cuda.so", "libc10_cuda.so"}, "2.11.0+cu130");
  const std::string where = " in " + request_.torch_directory.string();
  const std::string expected =
      "torch: torch 2.11.0+cu130" + where + " is built for CUDA 13.0, an AMD device needs one for ROCm" + kCure;
  EXPECT_EQ(text(both_), expected);
  if (::dlopen("libamdhip64.so", RTLD_LAZY) == nullptr) {
    EXPECT_EQ(answer_text(probe({})), expected) << "the replaced torch took the runtime with it";
  }
  add_torch({"libtorch_cpu.so"}, "2.11.0+cpu");
  EXPECT_EQ(text(both_),
            "torch: torch 2.11.0+cpu" + where + " is built without ROCm: it holds no libtorch_hip.so" + kCure);
  add_torch({"libtorch_cpu.so", "libtorch_hip.so"}, "2.11.0+rocm7.1");
  EXPECT_THAT(text(both_), StartsWith("library-missing: libc10_hip.so, needed by the rocm plugin, is missing from"));
}

TEST_F(RocmProbe, OfErrorsNoiseAndCrashesSaysWhich) {
  add_machine();
  EXPECT_EQ(
      text(both_, {{"FAKE_HIP_FAIL", "hipInit=999"}}),
      "other: hipInit answers hipErrorUnknown (999) | See whether rocminfo answers, and the kernel's log (dmesg | "
      "grep amdgpu)");
  EXPECT_THAT(text(both_, {{"FAKE_HIP_MODE", "garbage"}}), HasSubstr("HIP's runtime makes no sense: its version is"));
  EXPECT_THAT(text(both_, {{"FAKE_HIP_COUNT", "-7"}}), HasSubstr("makes no sense: it counts -7 devices"));
  EXPECT_THAT(text(both_, {{"FAKE_HIP_CRASH", "hipInit"}}), HasSubstr("its probe crashed: signal"));
}

}  // namespace
}  // namespace lerobot::test
