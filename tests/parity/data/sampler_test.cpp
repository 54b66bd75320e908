// LeRobot's order of frames: the values of its sampler and of numpy and torch below it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>

#include "host/base/json.h"
#include "host/data/metadata.h"
#include "host/data/sampler.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;
using testing::ElementsAreArray;

const std::filesystem::path kData = LEROBOT_TEST_DATA;

struct SeedCase {
  std::int64_t seed, epoch;
  std::uint64_t expected;
  std::int64_t n;
  std::vector<std::int64_t> first;
};

TEST(EpochSeed, AndPermutationAreThoseOfNumpyAndTorch) {
  const std::vector<SeedCase> cases = {
      {1000, 0, 18002537191484623697u, 100, {52, 2, 7, 62, 41, 78, 19, 33, 93, 45, 12, 29}},
      {1000, 1, 4723298920957447659u, 100, {54, 85, 4, 19, 80, 88, 51, 83, 10, 96, 20, 72}},
      {0, 0, 15793235383387715774u, 100, {76, 75, 57, 10, 92, 7, 20, 43, 87, 77, 45, 61}},
      {42, 3, 18141372322412330060u, 100, {88, 42, 29, 27, 74, 62, 83, 16, 95, 28, 84, 39}},
      {8589934597, 7, 8540055467399048149u, 100, {80, 46, 36, 14, 7, 74, 12, 2, 70, 6, 86, 82}},
      {1000, 0, 18002537191484623697u, 10, {2, 0, 5, 9, 1, 8, 7, 3, 6, 4}},
      {1000, 1, 4723298920957447659u, 10, {4, 0, 8, 6, 2, 1, 9, 5, 7, 3}},
      {0, 0, 15793235383387715774u, 10, {6, 3, 1, 5, 8, 7, 0, 2, 9, 4}},
      {42, 7, 10473664704035447458u, 10, {8, 7, 6, 5, 9, 4, 2, 0, 1, 3}},
      {(std::int64_t{1} << 40) + 5, 3, 13994629858425357765u, 10, {3, 7, 0, 5, 8, 6, 4, 2, 9, 1}},
      {1000, 0, 18002537191484623697u, 100000, {49552, 74333, 3949, 95387, 2201, 6953, 90783, 33234}}};
  for (const SeedCase& test : cases) {
    EXPECT_EQ(epoch_seed(test.seed, test.epoch), test.expected) << test.seed << ", " << test.epoch;
    std::vector<std::int64_t> order = torch_randperm(test.n, test.expected);
    order.resize(test.first.size());
    EXPECT_EQ(order, test.first) << test.seed << ", " << test.epoch;
  }
}

/// The chosen episodes. Python recorded global frame numbers, so that these stand for the rows.
std::vector<Episode> used_episodes(const std::string& dataset, const bj::value& chosen) {
  const DatasetMetadata metadata = DatasetMetadata::load(kData / "datasets" / dataset);
  std::vector<Episode> used;
  for (Episode episode : metadata.episodes()) {
    if (!chosen.is_null()) {
      const auto numbers = bj::value_to<std::vector<std::int64_t>>(chosen);
      if (std::find(numbers.begin(), numbers.end(), episode.index) == numbers.end()) continue;
    }
    episode.first_row = episode.from;
    used.push_back(episode);
  }
  return used;
}

TEST(EpisodeAwareSampler, GivesTheOrderThatPythonRecorded) {
  const bj::value golden = json::read_file(kData / "goldens/sampler.json", ErrorKind::kData);
  for (const bj::value& value : golden.as_object().at("runs").as_array()) {
    const bj::object& run = value.as_object();
    const EpisodeAwareSampler sampler(used_episodes(std::string(run.at("dataset").as_string()), run.at("episodes")),
                                      run.at("seed").as_int64(), 0, run.at("drop_n_last_frames").as_int64());
    EXPECT_EQ(sampler.size(), run.at("length").as_int64());
    for (const bj::value& epoch : run.at("epochs").as_array()) {
      const bj::object& expected = epoch.as_object();
      EXPECT_EQ(epoch_seed(run.at("seed").as_int64(), expected.at("epoch").as_int64()),
                expected.at("torch_seed").to_number<std::uint64_t>());
      const std::vector<std::int64_t> order = sampler.epoch_order(expected.at("epoch").as_int64());
      const auto first = bj::value_to<std::vector<std::int64_t>>(expected.at("first"));
      const auto last = bj::value_to<std::vector<std::int64_t>>(expected.at("last"));
      EXPECT_THAT(std::vector(order.begin(), order.begin() + std::ssize(first)), ElementsAreArray(first));
      EXPECT_THAT(std::vector(order.end() - std::ssize(last), order.end()), ElementsAreArray(last));
      std::int64_t weighted_sum = 0;
      for (std::size_t k = 0; k < order.size(); ++k) weighted_sum += static_cast<std::int64_t>(k + 1) * order[k];
      EXPECT_EQ(weighted_sum, expected.at("weighted_sum").as_int64());
    }
  }
}

/// The sum of (position + 1) * entry, modulo 2^64, of torch.randperm over the frames of two long episodes.
TEST(EpisodeAwareSampler, GivesTorchsOrderOfTwoMillionFrames) {
  std::vector<Episode> episodes(2);
  episodes[0].to = episodes[1].from = episodes[1].first_row = 1'200'000;
  episodes[1].index = 1;
  episodes[1].to = 1'999'986;
  const EpisodeAwareSampler sampler(episodes, 1000, 0, 0);
  for (const auto& [epoch, expected] : {std::pair{0, 1999947463561469788U}, {1, 1999142194276336822U}}) {
    const std::vector<std::int64_t> order = sampler.epoch_order(epoch);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) sum += (i + 1) * static_cast<std::uint64_t>(order[i]);
    EXPECT_EQ(sum, expected) << epoch;
  }
}

}  // namespace
}  // namespace lerobot::data
