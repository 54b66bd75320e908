#include "host/data/byte_cache.h"

#include <gtest/gtest.h>

namespace lerobot::data {
namespace {

std::shared_ptr<const void> get(ByteCache& cache, std::uint64_t key, std::size_t bytes, int& made) {
  return cache.get(key, [&]() -> ByteCache::Value {
    ++made;
    return {std::make_shared<int>(made), bytes};
  });
}

TEST(ByteCache, StaysBelowItsLimitAndDropsTheLeastRecentlyUsed) {
  ByteCache cache(100);
  int made = 0;
  get(cache, 1, 40, made);
  get(cache, 2, 40, made);
  get(cache, 1, 40, made);
  EXPECT_EQ(made, 2);
  get(cache, 3, 40, made);
  EXPECT_LE(cache.bytes(), 100u);
  get(cache, 1, 40, made);
  EXPECT_EQ(made, 3) << "1 was used after 2, so it stayed";
  get(cache, 2, 40, made);
  EXPECT_EQ(made, 4);
}

TEST(ByteCache, GivesButDoesNotKeepWhatIsAboveTheLimit) {
  ByteCache cache(0);
  int made = 0;
  EXPECT_NE(get(cache, 1, 40, made), nullptr);
  EXPECT_NE(get(cache, 1, 40, made), nullptr);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace lerobot::data
