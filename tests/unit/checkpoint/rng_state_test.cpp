#include "host/checkpoint/rng_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "host/checkpoint/tensor_file.h"
#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Tensors python_state() {
  return read_tensors(python_checkpoint() / "training_state" / "rng_state.safetensors");
}

TEST(RngState, OfASeedIsWhatPythonAndNumpyHave) {
  const Tensors expected = python_state();
  const Tensors fresh = fresh_rng_state(1000);
  EXPECT_EQ(fresh.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    if (name == "torch_rng_state") continue;  // of the moment of the save
    const at::Tensor* ours = fresh.find(name);
    ASSERT_TRUE(ours) << name;
    EXPECT_EQ(ours->scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(ours->equal(tensor)) << name;
  }
}

/// First and last words of `random.seed(s); random.getstate()` and of `numpy.random.seed(s)`, recorded with
/// Python 3.12.
TEST(RngState, SmallLargeAndNegativeSeeds) {
  const auto word = [](std::int64_t seed, const char* name, std::int64_t at) {
    return fresh_rng_state(seed).find(name)->select(0, at).item<std::int64_t>();
  };
  EXPECT_EQ(word(0, "py_rng_state", 1), 766982754);
  EXPECT_EQ(word(0, "py_rng_state", 623), 2902720905);
  EXPECT_EQ(word(0, "np_rng_state_values", 0), 0);
  EXPECT_EQ(word(0, "np_rng_state_values", 623), 1796872496);
  EXPECT_EQ(word(42, "py_rng_state", 1), 3564348608);
  EXPECT_EQ(word(42, "py_rng_state", 623), 3831079317);
  EXPECT_EQ(word(42, "np_rng_state_values", 0), 42);
  EXPECT_EQ(word(42, "np_rng_state_values", 623), 26719530);
  EXPECT_EQ(word(-42, "py_rng_state", 1), 3564348608);
  EXPECT_EQ(word(-42, "py_rng_state", 623), 3831079317);
  EXPECT_EQ(word(4294967295, "py_rng_state", 1), 2159790430);
  EXPECT_EQ(word(4294967295, "py_rng_state", 623), 2300076184);
  EXPECT_EQ(word(4294967295, "np_rng_state_values", 0), 4294967295);
  EXPECT_EQ(word(4294967295, "np_rng_state_values", 623), 3413567280);
  EXPECT_EQ(word(1099511627781, "py_rng_state", 1), 550267540);
  EXPECT_EQ(word(1099511627781, "py_rng_state", 623), 2187275131);
}

TEST(RngState, WithoutASeedTwoRunsDiffer) {
  EXPECT_FALSE(
      fresh_rng_state(std::nullopt).find("py_rng_state")->equal(*fresh_rng_state(std::nullopt).find("py_rng_state")));
}

TEST(RngState, TorchDrawsTheSameNumbersAfterARestore) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(3);
  Tensors rng = fresh_rng_state(1000);
  at::rand({5});
  record_torch_rng(rng);
  const at::Tensor first = at::rand({7});
  restore_torch_rng(rng);
  EXPECT_TRUE(at::rand({7}).equal(first));
}

TEST(RngState, RecordingKeepsPythonsEntriesAndDropsOldDeviceStates) {
  Tensors rng = python_state();
  rng["torch_cuda_rng_state"] = at::zeros({16}, at::kByte);
  const at::Tensor values = *rng.find("py_rng_state");
  record_torch_rng(rng);
  EXPECT_EQ(rng.size(), 7U);
  EXPECT_TRUE(rng.find("py_rng_state")->equal(values));
}

TEST(RngState, ATorchStateThatIsNoneIsRefused) {
  Tensors rng = python_state();
  rng["torch_rng_state"] = at::zeros({5000}, at::kByte);
  EXPECT_THAT([&] { restore_torch_rng(rng); }, ThrowsMessage<Error>(HasSubstr("torch_rng_state")));
  rng["torch_rng_state"] = at::ones({5056}, at::kByte).mul(255);
  EXPECT_THAT([&] { restore_torch_rng(rng); }, ThrowsMessage<Error>(HasSubstr("torch_rng_state")));
}

}  // namespace
}  // namespace lerobot::checkpoint
