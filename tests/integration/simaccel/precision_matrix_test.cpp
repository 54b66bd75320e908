// Device x precision x TF32 x scaler flags: each cell is either effective, and shown to be, or refused with its reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "host/base/safetensors.h"
#include "tests/integration/simaccel/sim_support.h"
#include "tests/simaccel/counters.h"

namespace lerobot::test {
namespace {

namespace fs = std::filesystem;
using simaccel::NumberType;
using ::testing::HasSubstr;

/// A device of the matrix: the processor, or the simulated accelerator with what it says of itself.
struct Device {
  std::string name;  ///< of the test
  bool processor = false;
  std::string bf16 = "native", fp16 = "native";
  bool tf32 = false;
  bool every_tf32 = false;  ///< all values of --tf32, not the default alone: one device of each kind is enough

  std::string controls() const { return "bf16=" + bf16 + ",fp16=" + fp16 + ",tf32=" + (tf32 ? "yes" : "no"); }
};

void PrintTo(const Device& device, std::ostream* out) {
  *out << device.name;
}

struct Cell {
  std::string precision;
  std::string tf32;  ///< empty: not typed
  bool scaler_typed = false;

  std::string name() const { return precision + " tf32=" + tf32 + (scaler_typed ? " scaler" : ""); }
};

/// What has to come of a cell.
struct Expected {
  int exit_code = 0;
  std::vector<std::string> said;
};

std::string tf32_text(const Device& device, const Cell& cell) {
  if (!device.tf32) return "no TF32 on this device";
  if (cell.tf32 == "false") return "TF32 off";
  return cell.tf32 == "null" ? "TF32 on for convolutions only" : "TF32 on";
}

/// The rule of docs/accelerators.md, written down once more.
Expected expected(const Device& device, const Cell& cell) {
  if (cell.scaler_typed && cell.precision != "fp16") {
    return {2, {"--accelerator.grad_scaler.init_scale: only read with fp16", "Leave it out"}};
  }
  const std::string flag = "--accelerator.mixed_precision=" + cell.precision + ": ";
  if (cell.precision == "bf16" && !device.processor && device.bf16 != "native") {
    return {3, {flag, "bf16", device.fp16 == "none" ? "Use no." : "Use fp16."}};
  }
  if (cell.precision == "fp16" && device.processor) return {3, {flag, "fp16 needs an accelerator. Use bf16 or no."}};
  if (cell.precision == "fp16" && device.fp16 == "none") {
    return {3, {flag, "has no fp16", device.bf16 == "native" ? "Use bf16 or no." : "Use no."}};
  }
  const std::string computes = cell.precision == "no" ? "float32" : cell.precision + " autocast";
  const std::string scale = cell.scaler_typed ? "1024" : "65536";
  const std::string scaler = cell.precision == "fp16" ? "gradient scaler at " + scale : "no gradient scaler";
  return {0, {"precision: " + computes + ", " + scaler + ", " + tf32_text(device, cell)}};
}

std::vector<Cell> cells(const Device& device) {
  const std::vector<std::string> all{"", "true", "false", "null"};
  std::vector<Cell> list;
  for (const char* precision : {"no", "bf16", "fp16"}) {
    for (const std::string& tf32 : device.every_tf32 ? all : std::vector<std::string>{""}) {
      for (const bool scaler_typed : {false, true}) list.push_back({precision, tf32, scaler_typed});
    }
  }
  return list;
}

class PrecisionMatrix : public ::testing::TestWithParam<Device> {
 protected:
  /// Two updates; a checkpoint only where TF32 and scaler are the default.
  static std::vector<std::string> arguments(const Device& device, const Cell& cell, const fs::path& output) {
    std::vector<std::string> flags{"--steps=2", "--batch_size=2", "--accelerator.mixed_precision=" + cell.precision};
    if (!cell.tf32.empty()) flags.push_back("--tf32=" + cell.tf32);
    if (cell.scaler_typed) flags.emplace_back("--accelerator.grad_scaler.init_scale=1024");
    if (!is_plain(cell)) flags.emplace_back("--save_checkpoint=false");
    const auto act = tiny_act("pusht_keypoints", output, flags);
    return device.processor ? with(act, {"--policy.device=cpu"}) : on_simaccel(act);
  }
  static bool is_plain(const Cell& cell) { return cell.tf32.empty() && !cell.scaler_typed; }

  Folder folder_;
};

/// Losses near those of float32, each of them different: rounded to fewer bits.
void expect_losses(const fs::path& run, const std::vector<double>& in_float32, bool rounded) {
  const std::vector<double> losses = column(run, "loss");
  ASSERT_EQ(losses.size(), in_float32.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], in_float32[i], rounded ? in_float32[i] * 2e-2 : 0) << "step " << i + 1;
    EXPECT_EQ(losses[i] != in_float32[i], rounded) << "step " << i + 1;
  }
}

/// Parameters and the optimizer's state are float32, whatever was computed in.
void expect_float32(const fs::path& run) {
  for (const char* file : {"pretrained_model/model.safetensors", "training_state/optimizer_state.safetensors"}) {
    const SafetensorsFile tensors(run / "checkpoints/000002" / file, ErrorKind::kCheckpoint);
    EXPECT_GT(tensors.tensors().size(), 50U) << file;
    for (const auto& [name, tensor] : tensors.tensors()) {
      EXPECT_EQ(tensor.dtype, DType::kFloat32) << file << ": " << name;
    }
  }
}

/// The type of nearly all matrix products: the selftest's is float32 always.
void expect_products(simaccel::Counters& counters, const std::string& precision) {
  const NumberType computes = precision == "bf16"   ? NumberType::kBFloat16
                              : precision == "fp16" ? NumberType::kFloat16
                                                    : NumberType::kFloat32;
  for (const NumberType type : {NumberType::kFloat32, NumberType::kFloat16, NumberType::kBFloat16}) {
    const std::uint64_t count = counters.devices[0].products[type];
    if (type == computes) {
      EXPECT_GT(count, 50U);
    } else {
      EXPECT_LE(count, 1U) << "type " << static_cast<int>(type);
    }
  }
}

/// TF32 as the device has it after the run.
void expect_tf32(simaccel::Counters& counters, const Device& device, const Cell& cell) {
  const bool is_set = device.tf32 && cell.tf32 != "null";
  EXPECT_EQ(counters.tf32_sets, is_set ? 1U : 0U);
  const std::uint32_t set = cell.tf32 == "false" ? LRA_TF32_OFF : LRA_TF32_ON;
  EXPECT_EQ(counters.tf32_matmul, !device.tf32 ? 0U : is_set ? set : LRA_TF32_OFF);
  EXPECT_EQ(counters.tf32_convolution, !device.tf32 ? 0U : is_set ? set : LRA_TF32_ON);
}

TEST_P(PrecisionMatrix, HasNoCellThatIsSilent) {
  const Device& device = GetParam();
  std::vector<double> in_float32;
  int effective = 0;
  for (const Cell& cell : cells(device)) {
    SCOPED_TRACE(cell.name());
    const Expected expectation = expected(device, cell);
    const fs::path output = folder_.path / cell.name();
    Environment environment = same_numbers(device.controls());
    const std::string file = output.string() + ".counters";
    environment["LEROBOT_SIMACCEL_COUNTERS"] = file;
    const Outcome outcome = run_program(train_program(), arguments(device, cell, output), environment);
    if (expectation.exit_code != 0) {
      expect_error_line(outcome, expectation.exit_code, expectation.said);
      EXPECT_FALSE(fs::exists(output)) << "refused after work began";
      continue;
    }
    ++effective;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
    for (const std::string& part : expectation.said) EXPECT_THAT(outcome.out, HasSubstr(part));
    if (in_float32.empty()) in_float32 = column(output, "loss");
    expect_losses(output, in_float32, cell.precision != "no");
    if (is_plain(cell)) expect_float32(output);
    if (device.processor) continue;
    simaccel::Counters& counters = simaccel::map_counters(file.c_str());
    expect_products(counters, cell.precision);
    expect_tf32(counters, device, cell);
  }
  EXPECT_GT(effective, 0);
}

/// Each of native, emulated and none for bf16 and for fp16, and each advice that a refusal can give.
const Device kDevices[] = {
    {.name = "cpu", .processor = true, .every_tf32 = true},
    {.name = "bf16_native_fp16_native"},
    {.name = "bf16_native_fp16_native_tf32", .tf32 = true, .every_tf32 = true},
    {.name = "bf16_emulated_fp16_native", .bf16 = "emulated"},
    {.name = "bf16_none_fp16_emulated", .bf16 = "none", .fp16 = "emulated"},
    {.name = "bf16_native_fp16_none", .fp16 = "none"},
    {.name = "bf16_emulated_fp16_none", .bf16 = "emulated", .fp16 = "none"},
    {.name = "bf16_none_fp16_none", .bf16 = "none", .fp16 = "none"},
};

INSTANTIATE_TEST_SUITE_P(On, PrecisionMatrix, ::testing::ValuesIn(kDevices),
                         [](const auto& test) { return test.param.name; });

TEST(PrecisionNote, SaysThatEmulatedFp16SavesMemoryOnly) {
  const Folder folder;
  const auto act = tiny_act("pusht_keypoints", folder.path / "run",
                            {"--steps=1", "--save_checkpoint=false", "--accelerator.mixed_precision=fp16"});
  EXPECT_THAT(run(on_simaccel(act), same_numbers("fp16=emulated")),
              HasSubstr("fp16 on simaccel:0: this simulated accelerator computes fp16 in float32"));
}

}  // namespace
}  // namespace lerobot::test
