#include "host/accel/precision_rule.h"

#include <gmock/gmock.h>

namespace lerobot::accel {
namespace {

using testing::EndsWith;
using testing::StartsWith;

constexpr std::uint64_t kProcessor = LRA_CAP_HOST_PROCESSOR | LRA_CAP_FLOAT64;

struct Expected {
  Precision precision;
  std::uint64_t capabilities;
  Verdict verdict;
  const char* reason_begins;
  const char* reason_ends;
};

TEST(PrecisionRule, JudgesEveryKindOfDevice) {
  const Expected table[] = {
      {Precision::kFloat32, 0, Verdict::kNative, "", ""},
      {Precision::kFloat32, kProcessor, Verdict::kNative, "", ""},
      {Precision::kBFloat16, kProcessor | LRA_CAP_BF16_NATIVE, Verdict::kNative, "", ""},
      {Precision::kBFloat16, LRA_CAP_BF16_NATIVE, Verdict::kNative, "", ""},
      {Precision::kBFloat16, kProcessor | LRA_CAP_BF16_EMULATED, Verdict::kSlower, "this processor",
       "slower than float32"},
      {Precision::kBFloat16, kProcessor, Verdict::kRefused, "this processor has no bf16", ". Use no."},
      {Precision::kBFloat16, kProcessor | LRA_CAP_FP16_NATIVE, Verdict::kRefused, "this processor", ". Use no."},
      {Precision::kBFloat16, LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE, Verdict::kRefused,
       "this device only emulates bf16", ". Use fp16."},
      {Precision::kBFloat16, LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_EMULATED, Verdict::kRefused,
       "this device only emulates bf16", ". Use fp16."},
      {Precision::kBFloat16, LRA_CAP_BF16_EMULATED, Verdict::kRefused, "this device only emulates bf16", ". Use no."},
      {Precision::kBFloat16, LRA_CAP_FP16_NATIVE, Verdict::kRefused, "this device has no bf16", ". Use fp16."},
      {Precision::kBFloat16, 0, Verdict::kRefused, "this device has no bf16", ". Use no."},
      {Precision::kFloat16, LRA_CAP_FP16_NATIVE, Verdict::kNative, "", ""},
      {Precision::kFloat16, LRA_CAP_FP16_EMULATED, Verdict::kSlower, "this device has no fast fp16",
       "saves memory, not time"},
      {Precision::kFloat16, LRA_CAP_BF16_NATIVE, Verdict::kRefused, "this device has no fp16", ". Use bf16 or no."},
      {Precision::kFloat16, LRA_CAP_BF16_EMULATED, Verdict::kRefused, "this device has no fp16", ". Use no."},
      {Precision::kFloat16, kProcessor | LRA_CAP_FP16_NATIVE | LRA_CAP_BF16_NATIVE, Verdict::kRefused,
       "fp16 needs an accelerator", ". Use bf16 or no."},
      {Precision::kFloat16, kProcessor | LRA_CAP_BF16_EMULATED, Verdict::kRefused, "fp16 needs an accelerator",
       ". Use bf16 or no."},
      {Precision::kFloat16, kProcessor, Verdict::kRefused, "fp16 needs an accelerator", ". Use no."},
  };
  for (const Expected& row : table) {
    const PrecisionVerdict found = judge_precision(row.precision, row.capabilities);
    SCOPED_TRACE(testing::Message() << "precision " << static_cast<int>(row.precision) << ", capabilities "
                                    << row.capabilities);
    EXPECT_EQ(found.verdict, row.verdict);
    EXPECT_EQ(found.reason.empty(), row.verdict == Verdict::kNative);
    EXPECT_THAT(found.reason, StartsWith(row.reason_begins));
    EXPECT_THAT(found.reason, EndsWith(row.reason_ends));
  }
}

TEST(PrecisionRule, SaysInOneLineWhatTrainingGets) {
  EXPECT_EQ(precision_summary(LRA_CAP_BF16_NATIVE | LRA_CAP_FP16_NATIVE | LRA_CAP_TF32),
            "float32; bf16 native; fp16 native, with the gradient scaler; TF32 on (off with --tf32=false)");
  EXPECT_EQ(precision_summary(kProcessor | LRA_CAP_BF16_EMULATED),
            "float32; bf16 works, slower than float32 here; fp16 refused (no scaler on a processor); no TF32");
  EXPECT_EQ(precision_summary(LRA_CAP_BF16_EMULATED | LRA_CAP_FP16_NATIVE),
            "float32; bf16 refused (not native), use fp16; fp16 native, with the gradient scaler; no TF32");
  EXPECT_EQ(precision_summary(LRA_CAP_FP16_EMULATED),
            "float32; bf16 refused (not native), use fp16; fp16 saves memory, not time, with the gradient scaler; no "
            "TF32");
  EXPECT_EQ(precision_summary(0), "float32; bf16 refused (not native); fp16 refused (none); no TF32");
}

}  // namespace
}  // namespace lerobot::accel
