#include "host/data/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Numbers = std::vector<std::int64_t>;

std::vector<Episode> episodes_of(const std::vector<std::pair<std::int64_t, std::vector<std::string>>>& given) {
  std::vector<Episode> episodes;
  for (const auto& [number, tasks] : given) {
    Episode& episode = episodes.emplace_back();
    episode.index = number;
    episode.tasks = tasks;
  }
  return episodes;
}

/// `count` episodes of one task.
std::vector<Episode> one_task(std::int64_t count) {
  std::vector<Episode> episodes;
  for (std::int64_t i = 0; i < count; ++i) episodes.push_back(episodes_of({{i, {"push"}}}).front());
  return episodes;
}

TEST(SplitEpisodes, HoldsOutTheLastOnesOfEachFirstTask) {
  const EpisodeSplit split = split_episodes(
      episodes_of({{7, {"push"}}, {0, {"pull", "push"}}, {5, {"push"}}, {3, {"push", "pull"}}, {4, {"pull"}}}), 0.5);
  EXPECT_THAT(split.train, ElementsAre(7, 0));
  EXPECT_THAT(split.held_out, ElementsAre(5, 3, 4));
  EXPECT_EQ(split.tasks, 2);
}

TEST(SplitEpisodes, EpisodesWithoutATaskAreAGroup) {
  const EpisodeSplit split = split_episodes(episodes_of({{0, {}}, {1, {"push"}}, {2, {}}, {3, {"push"}}}), 0.1);
  EXPECT_THAT(split.train, ElementsAre(0, 1));
  EXPECT_THAT(split.held_out, ElementsAre(2, 3));
  EXPECT_EQ(split.tasks, 2);
}

TEST(SplitEpisodes, RoundsUpInDoublePrecisionAsPythonDoes) {
  // math.ceil(n * share) of Python: 100 * 0.07 is 7.000000000000001, 3 * (1 / 3) is 1.0, 10 * 0.1 is 1.0.
  EXPECT_THAT(split_episodes(one_task(100), 0.07).held_out, SizeIs(8));
  EXPECT_THAT(split_episodes(one_task(3), 1.0 / 3).held_out, SizeIs(1));
  EXPECT_THAT(split_episodes(one_task(10), 0.1).held_out, SizeIs(1));
  EXPECT_THAT(split_episodes(one_task(2), 1e-9).held_out, SizeIs(1));
}

TEST(SplitEpisodes, RefusesToHoldOutEverything) {
  EXPECT_THAT(data_error_of([] {
                split_episodes(episodes_of({{0, {"push"}}, {1, {"pull"}}}), 0.01);
              }),
              AllOf(HasSubstr("--dataset.eval_split=0.01"), HasSubstr("all 2 episodes"), HasSubstr("2 tasks")));
}

TEST(EvaluationRows, AreAllRowsWithoutACap) {
  const Numbers tasks{3, 3, 0};
  EXPECT_THAT(evaluation_rows(tasks, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(evaluation_rows(tasks, -4), ElementsAre(0, 1, 2));
}

TEST(EvaluationRows, ACapIsSharedByTheTasksInTheOrderOfTheirNumbers) {
  const Numbers tasks{3, 3, 0, 3, 0, 0, 8};
  EXPECT_THAT(evaluation_rows(tasks, 8), ElementsAre(2, 4, 0, 1, 6));  // 8 / 3 rows of each
  EXPECT_THAT(evaluation_rows(tasks, 1), ElementsAre(2, 0, 6));        // at least one of each
  EXPECT_THAT(evaluation_rows(tasks, 1000), ElementsAre(2, 4, 5, 0, 1, 3, 6));
}

}  // namespace
}  // namespace lerobot::data
