#include "host/data/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "host/base/error.h"
#include "host/base/json.h"

namespace lerobot::data {

EpisodeSplit split_episodes(const std::vector<Episode>& episodes, double share) {
  OrderedMap<std::vector<std::int64_t>> by_task;
  for (const Episode& episode : episodes) {
    by_task[episode.tasks.empty() ? "" : episode.tasks.front()].push_back(episode.index);
  }
  EpisodeSplit split{.train = {}, .held_out = {}, .tasks = static_cast<std::int64_t>(by_task.size())};
  for (const auto& [task, numbers] : by_task) {
    const auto count = static_cast<std::ptrdiff_t>(std::ceil(static_cast<double>(numbers.size()) * share));
    const auto first_held_out = numbers.end() - std::min(count, std::ssize(numbers));
    split.train.insert(split.train.end(), numbers.begin(), first_held_out);
    split.held_out.insert(split.held_out.end(), first_held_out, numbers.end());
  }
  if (split.train.empty()) {
    fail(ErrorKind::kData,
         "--dataset.eval_split={}: holds out all {} episodes ({} tasks, each gives at least one), needed at least one "
         "to train on. Lower it, or choose more episodes.",
         json::float_repr(share), episodes.size(), split.tasks);
  }
  return split;
}

std::vector<std::int64_t> evaluation_rows(std::span<const std::int64_t> task_of_row, std::int64_t cap) {
  std::vector<std::int64_t> rows(task_of_row.size());
  std::iota(rows.begin(), rows.end(), 0);
  if (cap <= 0) return rows;
  std::map<std::int64_t, std::vector<std::int64_t>> by_task;
  for (const std::int64_t row : rows) by_task[task_of_row[static_cast<std::size_t>(row)]].push_back(row);
  const std::int64_t per_task = std::max<std::int64_t>(1, cap / std::max<std::int64_t>(1, std::ssize(by_task)));
  rows.clear();
  for (const auto& [task, of_task] : by_task) {
    rows.insert(rows.end(), of_task.begin(), of_task.begin() + std::min(per_task, std::ssize(of_task)));
  }
  return rows;
}

}  // namespace lerobot::data
