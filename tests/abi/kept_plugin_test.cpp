// The plugin of version 1.0 that is kept as binaries (tests/abi/kept): this host finds, probes, starts and uses it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "host/accel/accelerator.h"
#include "host/accel/sha256.h"
#include "host/accel/start.h"
#include "host/base/error.h"
#include "tests/fakes/fake_package.h"
#include "tests/fakes/run_program.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const fs::path kKept = LEROBOT_SOURCE_DIR "/tests/abi/kept/1.0/linux-x86_64/kept";

/// The table "kept.notes/1" of the plugin's source.
struct Notes {
  std::uint32_t struct_size;
  std::uint32_t activated_device;
  std::uint64_t synchronizations;
  std::uint64_t selftests;
  std::uint64_t seed;
  std::uint64_t open_scopes;
  std::uint64_t unscaled_elements;
};

/// A tensor of the plugin's devices: memory of the host.
template <class Value>
TensorView view_of(const DeviceInfo& device, std::vector<Value>& values, std::uint8_t dtype_code) {
  TensorView view{};
  view.struct_size = sizeof view;
  view.torch_type = device.torch_type;
  view.torch_index = device.torch_index;
  view.dtype_code = dtype_code;
  view.dtype_bits = sizeof(Value) * 8;
  view.dtype_lanes = 1;
  view.ndim = 1;
  view.base = values.data();
  view.shape[0] = static_cast<std::int64_t>(values.size());
  view.strides[0] = 1;
  return view;
}

class KeptPlugin : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__) || !defined(__linux__)
    GTEST_SKIP() << "the kept binaries are for linux-x86_64";
#endif
    // Into a directory of this user's: packages that others may write are refused, whatever the checkout's umask.
    fs::create_directories(package());
    for (const auto& entry : fs::directory_iterator(kKept)) {
      fs::copy_file(entry.path(), package() / entry.path().filename());
      fs::permissions(package() / entry.path().filename(), fs::perms::owner_all);
    }
  }

  fs::path package() const {
    return directory_.path() / "kept";
  }

  /// The second of its devices, asked for by name; one start serves all, since a library is never unloaded.
  Accelerator& device() {
    static const std::unique_ptr<Accelerator> only = [this] {
      StartOptions options;
      options.plugin_directories = {directory_.path().string()};
      options.request.device = "kept:1";
      options.request.typed = true;
      return start(options).accelerator;
    }();
    return *only;
  }

  const Notes& notes() {
    return *static_cast<const Notes*>(device().extension("kept.notes/1"));
  }

  /// lerobot-accel on the package, without a torch of whoever runs the tests.
  test::ProgramResult program(const std::vector<std::string>& arguments) {
    return test::run_program(LEROBOT_STAGE "/bin/lerobot-accel", arguments,
                             {{"LEROBOT_TORCH_DIR", ""}, {"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""}});
  }

  test::TemporaryDirectory directory_;
};

TEST_F(KeptPlugin, IsTheFileThatWasReleased) {
  EXPECT_EQ(sha256_file(kKept / "libkept_probe.so"),
            "3b58cf6b6c44ea8e69d31d225e36acbc2540cc777d19fe244954584b9348bc63");
  EXPECT_EQ(sha256_file(kKept / "libkept_accel.so"),
            "6adcf25ac58b278d176e7a30bac5215b119b181953b2042611ccae0c25e83c8b");
  EXPECT_EQ(sha256_file(kKept / "manifest.json"), "5ef8a17a48df9e5cf6524e12aeae2a45fc4e75940463fc03fbd39acb305f5e42");
}

TEST_F(KeptPlugin, IsStartedWithTheDeviceThatWasAskedFor) {
  const DeviceInfo& info = device().device_info();
  EXPECT_EQ(device().plugin_id(), "kept");
  EXPECT_EQ(device().plugin_version(), "1.0.0");
  EXPECT_EQ(info.name, "Kept device 1");
  EXPECT_EQ(info.pci_address, "00ff:02:00.0");
  EXPECT_EQ(info.architecture, "kept_1");
  EXPECT_EQ(info.torch_device, "cpu");
  EXPECT_EQ(info.memory_total, std::uint64_t{1} << 30);
  EXPECT_EQ(info.capabilities,
            LRA_CAP_FLOAT64 | LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE | LRA_CAP_TF32 | LRA_CAP_UNIFIED_MEMORY);
  EXPECT_EQ(notes().activated_device, 1u);
  EXPECT_GE(notes().selftests, 1u) << "part of the start";
}

TEST_F(KeptPlugin, SynchronizesAndTakesASeed) {
  const std::uint64_t before = notes().synchronizations;
  device().synchronize();
  EXPECT_EQ(notes().synchronizations, before + 1);
  EXPECT_TRUE(device().seed(0x123456789abcdef0));
  EXPECT_EQ(notes().seed, 0x123456789abcdef0u);
  EXPECT_EQ(device().extension("nobodys.table/1"), nullptr);
}

TEST_F(KeptPlugin, OpensAutocastScopesAndSaysHowNativeTheyAre) {
  EXPECT_EQ(device().autocast_query(Precision::kFloat16).support, Support::kNative);
  const AutocastSupport bf16 = device().autocast_query(Precision::kBFloat16);
  EXPECT_EQ(bf16.support, Support::kEmulated);
  EXPECT_EQ(bf16.reason, "the kept device has no bf16 units");
  const std::uint64_t outer = device().autocast_enter(Precision::kFloat16);
  const std::uint64_t inner = device().autocast_enter(Precision::kFloat32);
  EXPECT_EQ(notes().open_scopes, 2u);
  EXPECT_THROW(device().autocast_exit(outer), Error) << "not the innermost";
  device().autocast_exit(inner);
  device().autocast_exit(outer);
  EXPECT_EQ(notes().open_scopes, 0u);
}

TEST_F(KeptPlugin, KeepsATf32StateOfItsOwn) {
  const auto expect = [&](Tf32 matmul, Tf32 convolution) {
    const auto state = device().tf32_get();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->matmul, matmul);
    EXPECT_EQ(state->convolution, convolution);
  };
  expect(Tf32::kOff, Tf32::kOn);
  device().tf32_set({Tf32::kOn, Tf32::kLeave});
  expect(Tf32::kOn, Tf32::kOn);
  device().tf32_set({Tf32::kLeave, Tf32::kOff});
  expect(Tf32::kOn, Tf32::kOff);
  device().tf32_set({Tf32::kOff, Tf32::kOn});
  expect(Tf32::kOff, Tf32::kOn);
}

TEST_F(KeptPlugin, CountsItsMemory) {
  const auto stats = device().memory_stats();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->allocated, 1001u);
  EXPECT_EQ(stats->allocated_peak, 2001u);
  EXPECT_EQ(stats->cached, 3001u);
  EXPECT_EQ(stats->cached_peak, 4001u);
  EXPECT_EQ(stats->total, std::uint64_t{1} << 30);
  EXPECT_EQ(stats->free, std::uint64_t{1} << 29);
}

TEST_F(KeptPlugin, UnscalesGradientsInPlaceAndFlagsAnOverflow) {
  const DeviceInfo& info = device().device_info();
  std::vector<float> numbers = {8, -4, 2};
  std::vector<std::uint16_t> halves = {0x4000, 0x3c00};  // float16 2, 1
  std::vector<std::uint16_t> brain_halves = {0x4040};    // bfloat16 3
  std::vector<float> found_inf = {0}, inv_scale = {0.25F};
  std::vector<TensorView> gradients = {view_of(info, numbers, LRA_DTYPE_FLOAT), view_of(info, halves, LRA_DTYPE_FLOAT),
                                       view_of(info, brain_halves, LRA_DTYPE_BFLOAT)};
  const TensorView flag = view_of(info, found_inf, LRA_DTYPE_FLOAT);
  const TensorView factor = view_of(info, inv_scale, LRA_DTYPE_FLOAT);
  const std::uint64_t before = notes().unscaled_elements;
  device().scaler_unscale(gradients, flag, factor);
  EXPECT_THAT(numbers, ElementsAre(2, -1, 0.5));
  EXPECT_THAT(halves, ElementsAre(0x3800, 0x3400)) << "0.5, 0.25";
  EXPECT_THAT(brain_halves, ElementsAre(0x3f40)) << "0.75";
  EXPECT_EQ(found_inf[0], 0);
  EXPECT_EQ(notes().unscaled_elements, before + 6);
  halves[1] = 0x7c00;  // infinity
  device().scaler_unscale(gradients, flag, factor);
  EXPECT_EQ(found_inf[0], 1);
  gradients[0].torch_type += 1;
  numbers = {8, 8, 8};
  EXPECT_THROW(device().scaler_unscale(gradients, flag, factor), Error);
  EXPECT_THAT(numbers, ElementsAre(8, 8, 8));
}

TEST_F(KeptPlugin, FollowsTheRuleOfTheScale) {
  const DeviceInfo& info = device().device_info();
  std::vector<float> scale = {4}, found_inf = {0};
  std::vector<std::int32_t> tracker = {0};
  const TensorView scale_view = view_of(info, scale, LRA_DTYPE_FLOAT);
  const TensorView tracker_view = view_of(info, tracker, LRA_DTYPE_INT);
  const TensorView flag = view_of(info, found_inf, LRA_DTYPE_FLOAT);
  std::vector<std::pair<float, std::int32_t>> path;
  for (const float overflow : {0, 1, 0, 0, 0, 0}) {
    found_inf[0] = overflow;
    device().scaler_update(scale_view, tracker_view, flag, {2.0, 0.5, 2});
    path.emplace_back(scale[0], tracker[0]);
  }
  using Step = std::pair<float, std::int32_t>;
  EXPECT_THAT(path, ElementsAre(Step{4, 1}, Step{2, 0}, Step{2, 1}, Step{4, 0}, Step{4, 1}, Step{8, 0}));
}

TEST_F(KeptPlugin, IsListedWithItsDevicesAndWhatTrainingGetsFromThem) {
  const test::ProgramResult result = program({"list", "--verbose", "--plugins=" + directory_.path().string()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("Kept device 0, 1.0 GiB, kept_1, 00ff:01:00.0"), HasSubstr("Kept device 1"),
                    HasSubstr("a remark of the kept plugin"), HasSubstr("driver 1.0-kept"),
                    HasSubstr("precision of device 1: float32; bf16 refused (not native), use fp16; fp16 native, with "
                              "the gradient scaler; TF32 on (off with --tf32=false)")));
}

TEST_F(KeptPlugin, KeepsTheContractAsTodaysChecksSeeIt) {
  const test::ProgramResult result = program({"check", package().string()});
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_THAT(result.out, Not(HasSubstr("FAIL")));
  EXPECT_THAT(result.out, AllOf(testing::ContainsRegex("pass +abi.table-arguments"),
                                testing::ContainsRegex("pass +behaviour.autocast-order"),
                                testing::ContainsRegex("pass +numerics.tf32")));
}

}  // namespace
}  // namespace lerobot::accel
