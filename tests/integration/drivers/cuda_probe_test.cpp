// The cuda probe on a fake libcuda.so.1: every reason with its cure, as users read them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "plugin-api/include/lerobot_accel.h"
#include "tests/integration/drivers/driver_probe.h"

namespace lerobot::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kH200[] = "NVIDIA H200|90|0000:3B:00.0|150754820096";
constexpr char kA10[] = "NVIDIA A10|86|0000:5E:00.0|24000000000";
constexpr char kT4[] = "Tesla T4|75|0000:AF:00.0|15843721216";
constexpr char kV100[] = "Tesla V100|70|0000:B0:00.0|34089730048";

class CudaProbe : public DriverProbe {
 protected:
  CudaProbe() : DriverProbe("cuda") {}

  /// The answer on the fake driver with these devices.
  accel::ProbeResult ask(const std::string& devices, std::map<std::string, std::string> variables = {},
                         const std::string& driver = "cuda", bool as_nobody = false) {
    variables.emplace("LD_LIBRARY_PATH", fake_driver(driver));
    variables.emplace("FAKE_CUDA_DEVICES", devices);
    return probe(std::move(variables), as_nobody);
  }
  std::string text(const std::string& devices, const std::map<std::string, std::string>& variables = {},
                   const std::string& driver = "cuda") {
    return answer_text(ask(devices, variables, driver));
  }
};

TEST_F(CudaProbe, DescribesEachDevice) {
  add_file("/proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 07:20:49 UTC 2025\nGCC version: x\n");
  const accel::ProbeResult result = ask(std::string(kH200) + ";" + kA10);
  EXPECT_EQ(answer_text(result), "usable");
  EXPECT_EQ(result.driver_version, "580.65.06 (CUDA 13.0)");
  ASSERT_EQ(result.devices.size(), 2u);
  EXPECT_EQ(result.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(result.devices[0].architecture, "sm_90");
  EXPECT_EQ(result.devices[0].pci_address, "0000:3b:00.0");
  EXPECT_EQ(result.devices[0].uuid, "GPU-11111111-1111-1111-1111-111111111111");
  EXPECT_EQ(result.devices[0].memory_total, 150754820096u);
  EXPECT_EQ(result.devices[0].capabilities, LRA_CAP_FLOAT64 | LRA_CAP_BF16_NATIVE | LRA_CAP_FP16_NATIVE | LRA_CAP_TF32);
  EXPECT_EQ(result.devices[1].architecture, "sm_86");
}

TEST_F(CudaProbe, AdvisesFp16WhereBf16HasNoUnits) {
  const accel::ProbeResult result = ask(kT4);
  EXPECT_EQ(answer_text(result), "usable: Tesla T4 (sm_75) has no bf16 units: use fp16");
  EXPECT_EQ(result.devices.at(0).capabilities, LRA_CAP_FLOAT64 | LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE);
}

TEST_F(CudaProbe, WithoutADriverSaysSo) {
  if (::dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "this machine has an NVIDIA driver";
  EXPECT_EQ(answer_text(probe({})),
            "no-driver: no NVIDIA driver: libcuda.so.1 is not installed | With an NVIDIA GPU in this machine, install "
            "its driver");
}

TEST_F(CudaProbe, WithTheKernelModuleAloneAsksForItsLibrary) {
  if (::dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "this machine has an NVIDIA driver";
  add_file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun\n");
  EXPECT_EQ(
      answer_text(probe({})),
      "no-driver: the NVIDIA kernel module 580.65.06 is loaded, but the driver's library libcuda.so.1 is not "
      "installed | Install the driver's libraries of version 580.65.06; start a container with --gpus all (NVIDIA "
      "Container Toolkit)");
}

TEST_F(CudaProbe, InWslAsksForTheDriverOfWindows) {
  if (::dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "this machine has an NVIDIA driver";
  add_file("/dev/dxg");
  EXPECT_THAT(answer_text(probe({})), AllOf(StartsWith("no-driver:"), HasSubstr("driver for Windows")));
}

TEST_F(CudaProbe, NamesTheLibraryThatTheDriverMisses) {
  EXPECT_EQ(text(kH200, {}, "cuda_missing_dependency"),
            "library-missing: libfake_dependency.so, needed by libcuda.so.1, is not installed | Reinstall the NVIDIA "
            "driver's libraries");
}

TEST_F(CudaProbe, OfALibraryThatIsNoneGivesTheLoadersWords) {
  write_file(directory_.path() / "driver/libcuda.so.1", "no library, but a text of some length that no loader takes");
  EXPECT_THAT(text(kH200, {{"LD_LIBRARY_PATH", (directory_.path() / "driver").string()}}),
              AllOf(StartsWith("other: "), HasSubstr("libcuda.so.1 does not open: "),
                    HasSubstr("| Reinstall the NVIDIA driver")));
}

TEST_F(CudaProbe, OfADriverWithoutAFunctionNamesIt) {
  EXPECT_EQ(text(kH200, {}, "cuda_missing_symbol"),
            "driver-too-old: libcuda.so.1 exports no cuDeviceGetCount, which every NVIDIA driver since 2012 does | "
            "Install NVIDIA's driver anew");
}

TEST_F(CudaProbe, OfADriverThatIsTooOldSaysFoundAndNeeded) {
  add_torch({"libtorch_cpu.so", "libtorch_cuda.so", "libc10_cuda.so"}, "2.11.0+cu130");
  const std::string torch = request_.torch_directory.string();
  EXPECT_EQ(text(kH200, {{"FAKE_CUDA_VERSION", "12020"}}),
            "driver-too-old: the NVIDIA driver CUDA 12.2 is too old, torch 2.11.0+cu130 in " + torch +
                " needs CUDA 13.0 | Update the driver to 580 or newer, or use a torch built for CUDA 12");
}

TEST_F(CudaProbe, TakesADriverOfAnotherMinorVersion) {
  add_torch({"libtorch_cpu.so", "libtorch_cuda.so", "libc10_cuda.so"}, "2.11.0+cu126");
  EXPECT_EQ(text(kH200, {{"FAKE_CUDA_VERSION", "12000"}}), "usable");
}

TEST_F(CudaProbe, OfADriverWithoutDevicesSaysSo) {
  EXPECT_EQ(text(""), "no-device: the NVIDIA driver knows no device | See whether nvidia-smi lists one");
  EXPECT_EQ(text("", {{"CUDA_VISIBLE_DEVICES", "0"}}),
            "no-device: the NVIDIA driver knows no device (CUDA_VISIBLE_DEVICES=0) | See whether nvidia-smi lists one");
}

TEST_F(CudaProbe, NamesTheVariableThatHidesEveryDevice) {
  for (const std::string value : {"", "-1", "NoDevFiles"}) {
    EXPECT_EQ(text(kH200, {{"CUDA_VISIBLE_DEVICES", value}}),
              "hidden: CUDA_VISIBLE_DEVICES=" + value +
                  " hides every NVIDIA device | Unset CUDA_VISIBLE_DEVICES, or name devices that exist: 0");
  }
  add_file("/proc/driver/nvidia/gpus/0000:3b:00.0/information");
  EXPECT_EQ(text(kH200, {{"CUDA_VISIBLE_DEVICES", "5"}}),
            "hidden: CUDA_VISIBLE_DEVICES=5 hides every NVIDIA device (the kernel knows 1) | Unset "
            "CUDA_VISIBLE_DEVICES, or name devices that exist: 0");
}

TEST_F(CudaProbe, LeavesTheCountOfVisibleDevicesToTheDriver) {
  const std::string both = std::string(kH200) + ";" + kA10;
  EXPECT_EQ(ask(both, {{"CUDA_VISIBLE_DEVICES", "1"}}).devices.at(0).name, "NVIDIA A10");
  EXPECT_EQ(ask(both, {{"CUDA_VISIBLE_DEVICES", "GPU-22222222"}}).devices.at(0).name, "NVIDIA A10");
  EXPECT_EQ(ask(both, {{"CUDA_VISIBLE_DEVICES", "0,7,1"}}).device_count, 1u);
}

TEST_F(CudaProbe, KnowsADeviceThatOnlyTheKernelShows) {
  add_file("/proc/driver/nvidia/gpus/0000:3b:00.0/information");
  EXPECT_THAT(text(""), AllOf(StartsWith("no-device: the NVIDIA driver shows no device, its kernel module knows 1"),
                              HasSubstr("--gpus all")));
}

TEST_F(CudaProbe, NamesANodeThatThisUserMayNotOpen) {
  if (!can_ask_as_nobody()) GTEST_SKIP() << kNeedsNobody;
  forbid(add_file("/dev/nvidiactl"), 4711);
  const unsigned group = ::geteuid() == 0 ? 4711 : ::getegid();
  EXPECT_THAT(answer_text(ask("", {}, "cuda", /*as_nobody=*/true)),
              AllOf(StartsWith("not-permitted: no permission: " + machine_.string() + "/dev/nvidiactl is of group " +
                               std::to_string(group) + ", mode 000; this user's groups: "),
                    HasSubstr("--group-add " + std::to_string(group))));
}

TEST_F(CudaProbe, OfTheDriversErrorsGivesNameNumberAndCure) {
  EXPECT_EQ(text(kH200, {{"FAKE_CUDA_FAIL", "cuInit=803"}}),
            "other: cuInit answers CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803) | The driver was updated while its kernel "
            "module was loaded: restart the machine");
  EXPECT_THAT(text(kH200, {{"FAKE_CUDA_FAIL", "cuInit=34"}}),
              AllOf(HasSubstr("CUDA_ERROR_STUB_LIBRARY (34)"), HasSubstr("toolkit's stub")));
  EXPECT_THAT(text(kH200, {{"FAKE_CUDA_FAIL", "cuInit=802"}}),
              AllOf(HasSubstr("cuInit answers error 802"), HasSubstr("nvidia-fabricmanager")));
  EXPECT_EQ(text(kH200, {{"FAKE_CUDA_FAIL", "cuDeviceTotalMem_v2=999"}}),
            "other: cuDeviceTotalMem_v2 answers CUDA_ERROR_UNKNOWN (999) | See whether nvidia-smi answers, and the "
            "kernel's log (dmesg | grep NVRM)");
}

TEST_F(CudaProbe, DoesNotNeedAUuid) {
  const accel::ProbeResult result = ask(kH200, {{"FAKE_CUDA_FAIL", "cuDeviceGetUuid_v2=1"}});
  EXPECT_EQ(answer_text(result), "usable");
  EXPECT_EQ(result.devices.at(0).uuid, "");
}

TEST_F(CudaProbe, OfAnArchitectureThatTheBuildLacksNamesBoth) {
  request_.device_archs = "sm_75;sm_80;sm_90";
  EXPECT_EQ(text(kV100),
            "architecture: this build has no code for Tesla V100 (sm_70), only for sm_75, sm_80, sm_90 | Name a torch "
            "that has it with LEROBOT_TORCH_DIR; up to sm_70 (Tesla V100) one built for CUDA 12");
  EXPECT_EQ(text(kA10), "usable") << "sm_80 code runs on 8.6";
  EXPECT_EQ(
      text(std::string(kH200) + ";" + kV100),
      "usable: this build has no code for Tesla V100 (sm_70), only for sm_75, sm_80, sm_90; Tesla V100 (sm_70) has "
      "no bf16 units: use fp16");
}

TEST_F(CudaProbe, DoesNotJudgeATorchForAnotherCudaByTheList) {
  request_.device_archs = "sm_75;sm_80;sm_90";
  add_torch({"libtorch_cpu.so", "libtorch_cuda.so", "libc10_cuda.so"}, "2.11.0+cu126");
  EXPECT_THAT(text(kV100), StartsWith("usable: Tesla V100 (sm_70): whether torch 2.11.0+cu126"));
}

TEST_F(CudaProbe, RefusesATorchForOtherHardware) {
  constexpr char kCure[] = " | Name a torch built for CUDA with --torch_dir or LEROBOT_TORCH_DIR";
  add_torch({"libtorch_cpu.so", "libtorch_hip.so", "libc10_hip.so"}, "2.11.0+rocm7.1");
  const std::string where = " in " + request_.torch_directory.string();
  EXPECT_EQ(text(kH200),
            "torch: torch 2.11.0+rocm7.1" + where + " is built for ROCm, an NVIDIA device needs one for CUDA" + kCure);
  add_torch({"libtorch_cpu.so"}, "2.11.0+cpu");
  EXPECT_EQ(text(kH200),
            "torch: torch 2.11.0+cpu" + where + " is built without CUDA: it holds no libtorch_cuda.so" + kCure);
}

TEST_F(CudaProbe, NamesTheLibraryThatTorchMisses) {
  add_torch({"libtorch_cpu.so", "libtorch_cuda.so"}, "2.11.0+cu130");
  EXPECT_EQ(text(kH200),
            "library-missing: libc10_cuda.so, needed by the cuda plugin, is missing from torch 2.11.0+cu130 in " +
                request_.torch_directory.string() + " | Reinstall that torch");
}

TEST_F(CudaProbe, FindsTorchsCudaVersionInItsFiles) {
  add_torch({"libtorch_cpu.so", "libtorch_cuda.so", "libc10_cuda.so"}, "2.11.0");
  write_file(request_.torch_directory.parent_path() / "version.py",
             "from typing import Optional\n__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\n"
             "hip: Optional[str] = None\n");
  EXPECT_THAT(text(kH200, {{"FAKE_CUDA_VERSION", "12020"}}), StartsWith("driver-too-old:"));
}

TEST_F(CudaProbe, OfNoiseSaysThatItMakesNoSense) {
  EXPECT_THAT(text(kH200, {{"FAKE_CUDA_MODE", "garbage"}}),
              HasSubstr("the NVIDIA driver makes no sense: its version is"));
  EXPECT_THAT(text(kH200, {{"FAKE_CUDA_COUNT", "-7"}}), HasSubstr("makes no sense: it counts -7 devices"));
  EXPECT_THAT(text("Odd|-30|x|1"), HasSubstr("makes no sense: device 0 has compute capability"));
}

TEST_F(CudaProbe, OfADriverThatCrashesOrPrintsIsTheHostsToTell) {
  EXPECT_THAT(text(kH200, {{"FAKE_CUDA_CRASH", "cuInit"}}), HasSubstr("its probe crashed: signal"));
  EXPECT_EQ(text(kH200, {{"FAKE_CUDA_MODE", "chatty"}}), "usable");
}

}  // namespace
}  // namespace lerobot::test
