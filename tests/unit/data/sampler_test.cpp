#include "host/data/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "host/base/error.h"
#include "host/base/log.h"
#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<Episode> episodes_of(const std::vector<std::int64_t>& lengths) {
  std::vector<Episode> episodes;
  std::int64_t row = 0;
  for (const std::int64_t length : lengths) {
    Episode episode;
    episode.index = std::ssize(episodes);
    episode.from = episode.first_row = row;
    episode.to = row += length;
    episodes.push_back(episode);
  }
  return episodes;
}

TEST(EpisodeAwareSampler, PassesOverEpisodesThatAreTooShort) {
  const auto episodes = episodes_of({1, 6, 7, 8});
  EXPECT_EQ(EpisodeAwareSampler(episodes, 0, 0, 0).size(), 22);
  const EpisodeAwareSampler sampler(episodes, 0, 0, 6);
  EXPECT_THAT(sampler.epoch_order(0), UnorderedElementsAre(7, 14, 15));
  EXPECT_THAT(EpisodeAwareSampler(episodes, 0, 5, 1).epoch_order(0), UnorderedElementsAre(12, 19, 20));
  EXPECT_THAT(data_error_of([&] { EpisodeAwareSampler(episodes, 0, 0, 100); }), HasSubstr("100 last frames"));
}

TEST(EpisodeAwareSampler, WarnsOnceOfEpisodesThatAreTooShortWithTheirLengths) {
  testing::internal::CaptureStderr();
  const EpisodeAwareSampler sampler(episodes_of({1, 6, 7, 8}), 0, 0, 7);
  log::flush();
  EXPECT_EQ(sampler.size(), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("3 episodes are too short to drop 0 first and 7 last frames and give no samples: episode 0 (1 "
                        "frames), episode 1 (6 frames), episode 2 (7 frames)"));
}

TEST(EpisodeAwareSampler, RefusesNegativeSettings) {
  const auto episodes = episodes_of({3});
  EXPECT_THROW(EpisodeAwareSampler(episodes, 0, 0, -1), Error);
  EXPECT_THROW(EpisodeAwareSampler(episodes, 0, -1, 0), Error);
  EXPECT_THROW(EpisodeAwareSampler(episodes, -1, 0, 0), Error);
}

TEST(EpisodeAwareSampler, HoldsOnlyTheEpisodesOfTwentyMillionFrames) {
  const auto start = std::chrono::steady_clock::now();
  const EpisodeAwareSampler sampler(episodes_of({12'000'000, 8'000'000}), 1000, 0, 7);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 1);
  EXPECT_EQ(sampler.size(), 20'000'000 - 14);
}

TEST(EpisodeAwareSampler, GivesEachFrameOnceAndAnotherOrderEachEpoch) {
  const EpisodeAwareSampler sampler(episodes_of({50, 50}), 3, 0, 0);
  std::vector<std::int64_t> order = sampler.epoch_order(0);
  EXPECT_EQ(order, sampler.epoch_order(0));
  EXPECT_NE(order, sampler.epoch_order(1));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(TorchRandperm, RefusesWhatTorchShufflesInAnotherWay) {
  EXPECT_THAT(data_error_of([] { torch_randperm(std::int64_t{1} << 28, 0); }), HasSubstr("fewer episodes"));
}

}  // namespace
}  // namespace lerobot::data
