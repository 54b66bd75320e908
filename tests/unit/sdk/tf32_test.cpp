// TF32 over torch's switches: what is set is read back in both of torch's views, and a refusal leaves no trace.
#include "sdk/torch/tf32.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "sdk/failure.h"

namespace lerobot::sdk {
namespace {

lra_tf32 settings(std::uint32_t matmul, std::uint32_t convolution) {
  return {.struct_size = sizeof(lra_tf32), .matmul = matmul, .convolution = convolution, .reserved = 0};
}

void expect_state(std::uint32_t matmul, std::uint32_t convolution) {
  const lra_tf32 now = read_tf32(kCudaTf32);
  EXPECT_EQ(now.matmul, matmul);
  EXPECT_EQ(now.convolution, convolution);
  // torch's older view; its readers throw when the two views differ.
  EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), matmul == LRA_TF32_ON);
  EXPECT_EQ(at::globalContext().allowTF32CuDNN(at::Float32Op::CONV), convolution == LRA_TF32_ON);
  EXPECT_EQ(at::globalContext().float32MatmulPrecision() != at::Float32MatmulPrecision::HIGHEST, matmul == LRA_TF32_ON);
}

TEST(CudaTf32, IsEqualInBothViewsOfTorchAfterEachChange) {
  const lra_tf32 before = read_tf32(kCudaTf32);
  write_tf32(kCudaTf32, settings(LRA_TF32_LEAVE, LRA_TF32_LEAVE), "");
  expect_state(before.matmul, before.convolution);
  for (const std::uint32_t value : {LRA_TF32_ON, LRA_TF32_OFF, LRA_TF32_ON}) {
    write_tf32(kCudaTf32, settings(value, value), "");
    expect_state(value, value);
  }
}

TEST(CudaTf32, ChangesMatrixProductsAndConvolutionsApart) {
  write_tf32(kCudaTf32, settings(LRA_TF32_OFF, LRA_TF32_OFF), "");
  write_tf32(kCudaTf32, settings(LRA_TF32_ON, LRA_TF32_LEAVE), "");
  expect_state(LRA_TF32_ON, LRA_TF32_OFF);
  write_tf32(kCudaTf32, settings(LRA_TF32_OFF, LRA_TF32_ON), "");
  expect_state(LRA_TF32_OFF, LRA_TF32_ON);
}

bool one_switch = false;
constexpr Tf32Switches kOneSwitch = {[] { return one_switch; }, [](bool on) { one_switch = on; },
                                     [] { return one_switch; }, [](bool on) { one_switch = on; }};
constexpr Tf32Switches kStuck = {[] { return false; }, [](bool) {}, [] { return true; }, [](bool) {}};

lra_status refusal(const Tf32Switches& switches, const lra_tf32& wanted, std::string* message) {
  try {
    write_tf32(switches, wanted, "a cure");
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.hint(), "a cure");
    *message = failure.what();
    return failure.status();
  }
  return LRA_OK;
}

TEST(Tf32Switches, ThatAreOneRefuseToChangeOnlyOneOfTheTwo) {
  one_switch = false;
  std::string message;
  EXPECT_EQ(refusal(kOneSwitch, settings(LRA_TF32_ON, LRA_TF32_LEAVE), &message), LRA_UNSUPPORTED);
  EXPECT_FALSE(one_switch) << "as it was before";
  write_tf32(kOneSwitch, settings(LRA_TF32_ON, LRA_TF32_ON), "");
  EXPECT_TRUE(one_switch);
}

TEST(Tf32Switches, ThatDoNotMoveAreNamed) {
  std::string message;
  EXPECT_EQ(refusal(kStuck, settings(LRA_TF32_ON, LRA_TF32_OFF), &message), LRA_UNSUPPORTED);
  EXPECT_EQ(message, "TF32 (matmul on, convolution off): torch answers matmul off, convolution on");
}

}  // namespace
}  // namespace lerobot::sdk
