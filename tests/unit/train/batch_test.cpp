#include "host/train/batch.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace lerobot::train {
namespace {

data::Batch one_of_each() {
  data::Batch batch;
  data::Buffer& image = batch.tensors["observation.image"] = data::make_buffer(DType::kUInt8, {1, 1, 1, 2});
  data::elements_of<std::uint8_t>(image)[0] = 51;
  data::elements_of<std::uint8_t>(image)[1] = 255;
  data::Buffer& state = batch.tensors["observation.state"] = data::make_buffer(DType::kFloat32, {1, 2});
  data::elements_of<float>(state)[0] = 3;
  data::elements_of<float>(state)[1] = 4;
  data::Buffer& pad = batch.tensors["observation.state_is_pad"] = data::make_buffer(DType::kBool, {1});
  data::elements_of<bool>(pad)[0] = true;
  data::Buffer& action = batch.tensors["action"] = data::make_buffer(DType::kFloat64, {1});
  data::elements_of<double>(action)[0] = 0.5;
  batch.tensors["frame_index"] = data::make_buffer(DType::kInt64, {1});
  return batch;
}

TEST(Batch, CamerasBecomeFloatsBetweenZeroAndOne) {
  const policy::Batch tensors = to_tensors(one_of_each(), at::kCPU, {});
  EXPECT_TRUE(tensors.at("observation.image").equal(at::tensor({51.0F / 255.0F, 1.0F}).view({1, 1, 1, 2})));
}

TEST(Batch, DoublesBecomeFloatsSinceNotEveryDeviceHasThem) {
  EXPECT_EQ(to_tensors(one_of_each(), at::kCPU, {}).at("action").scalar_type(), at::kFloat);
}

TEST(Batch, OnlyWhatPoliciesSeeIsMoved) {
  EXPECT_FALSE(to_tensors(one_of_each(), at::kCPU, {}).contains("frame_index"));
}

TEST(Batch, RenamesKeysAndTheirPaddingMasks) {
  const policy::Batch tensors = to_tensors(one_of_each(), at::kCPU, {{"observation.state", "observation.joints"}});
  EXPECT_TRUE(tensors.contains("observation.joints"));
  EXPECT_TRUE(tensors.at("observation.joints_is_pad").item<bool>());
  EXPECT_FALSE(tensors.contains("observation.state"));
}

TEST(Batch, SharesTheLoadersMemoryAndKeepsItAlive) {
  policy::Batch tensors;
  const void* address = nullptr;
  {
    const data::Batch batch = one_of_each();
    address = batch.tensors.find("observation.state")->data.get();
    tensors = to_tensors(batch, at::kCPU, {});
  }
  EXPECT_EQ(tensors.at("observation.state").const_data_ptr(), address);
  EXPECT_TRUE(tensors.at("observation.state").equal(at::tensor({3.0F, 4.0F}).view({1, 2})));
}

}  // namespace
}  // namespace lerobot::train
