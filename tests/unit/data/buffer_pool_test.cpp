#include "host/data/buffer_pool.h"

#include <gtest/gtest.h>

#include <optional>

namespace lerobot::data {
namespace {

TEST(BufferPool, GivesMemoryOfTheSameSizeAgainOnlyWhenNobodyHasIt) {
  BufferPool pool(1000);
  std::optional<Buffer> first = pool.take(DType::kUInt8, {10, 10});
  const std::byte* memory = first->data.get();
  const Buffer copy = *first;
  first.reset();
  EXPECT_NE(pool.take(DType::kUInt8, {100}).data.get(), memory) << "a copy has it";
  EXPECT_EQ(pool.idle_bytes(), 100u);
  EXPECT_NE(pool.take(DType::kUInt8, {99}).data.get(), nullptr);
  EXPECT_EQ(pool.idle_bytes(), 199u) << "another size got memory of its own";
  EXPECT_EQ(pool.take(DType::kFloat32, {25}).shape, std::vector<std::int64_t>{25});
  EXPECT_EQ(pool.idle_bytes(), 199u) << "25 floats found 100 bytes";
}

TEST(BufferPool, KeepsNoMoreThanItsLimitAndMayGoFirst) {
  std::optional<BufferPool> pool(150);
  { const Buffer a = pool->take(DType::kUInt8, {100}), b = pool->take(DType::kUInt8, {100}); }
  EXPECT_EQ(pool->idle_bytes(), 100u);
  const Buffer outlives = pool->take(DType::kUInt8, {100});
  pool.reset();
  outlives.data[99] = std::byte{1};
}

}  // namespace
}  // namespace lerobot::data
