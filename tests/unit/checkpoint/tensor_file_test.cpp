#include "host/checkpoint/tensor_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <filesystem>

namespace lerobot::checkpoint {
namespace {

TEST(TensorFile, WritesAndReadsTensorsOfEveryTypeAndLayout) {
  const at::Tensor counts = at::arange(12).view({3, 4});
  Tensors tensors{{"transposed", counts.to(at::kFloat).t()},
                  {"scalar", at::tensor(20.0F)},
                  {"empty", at::zeros({0, 3})},
                  {"int64", counts},
                  {"bool", counts.gt(5)},
                  {"uint8", counts.to(at::kByte)},
                  {"half", counts.to(at::kHalf)},
                  {"bfloat16", counts.to(at::kBFloat16)},
                  {"double", counts.to(at::kDouble)}};
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "tensor_file_test.safetensors";
  write_tensors(path, tensors);
  const Tensors read = read_tensors(path);
  std::filesystem::remove(path);
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_NE(read.find(name), nullptr) << name;
    EXPECT_EQ(read.find(name)->scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(read.find(name)->equal(tensor)) << name;
  }
}

}  // namespace
}  // namespace lerobot::checkpoint
