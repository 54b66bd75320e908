#include <algorithm>
#include <fstream>
#include <functional>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/data/file_check.h"
#include "host/data/meta_files.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

/// One line of a .jsonl file, with the name that messages need.
struct Line {
  bj::object object;
  std::string name;  ///< "meta/tasks.jsonl (line 3)"

  const bj::value& at(std::string_view key) const {
    const bj::value* value = object.if_contains(key);
    if (value == nullptr) fail(ErrorKind::kData, "{}: \"{}\" is missing.", name, key);
    return *value;
  }
  std::int64_t integer(std::string_view key) const {
    const bj::value& value = at(key);
    if (!value.is_int64()) {
      fail(ErrorKind::kData, "{}: \"{}\" is {}, needed a whole number.", name, key, json::write_line(value));
    }
    return value.get_int64();
  }
  std::string text(std::string_view key) const {
    const bj::value& value = at(key);
    if (!value.is_string()) fail(ErrorKind::kData, "{}: \"{}\" is not a text.", name, key);
    return std::string(value.get_string());
  }
};

void for_each_line(const std::filesystem::path& root, std::string_view file,
                   const std::function<void(const Line&)>& visit) {
  std::ifstream in(root / file);
  std::size_t number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    Line line{.object = {}, .name = format("{} (line {})", file, number)};
    bj::value value = json::parse(text, line.name, ErrorKind::kData, json::NonFinite::kAccept);
    if (!value.is_object()) fail(ErrorKind::kData, "{}: not an object.", line.name);
    line.object = std::move(value.get_object());
    visit(line);
  }
}

std::vector<std::string> tasks_of(const Line& line) {
  std::vector<std::string> tasks;
  const bj::value* value = line.object.if_contains("tasks");
  if (value == nullptr || !value->is_array()) return tasks;
  for (const bj::value& task : value->get_array()) {
    if (!task.is_string()) fail(ErrorKind::kData, "{}: \"tasks\" holds something that is no text.", line.name);
    tasks.emplace_back(task.get_string());
  }
  return tasks;
}

/// An episode as a line describes it; where its frames begin is yet to be counted.
Episode read_episode(const Line& line, const MetaContext& context) {
  Episode episode;
  episode.index = line.integer("episode_index");
  if (episode.index < 0) fail(ErrorKind::kData, "{}: \"episode_index\" is {}.", line.name, episode.index);
  episode.to = line.integer("length");
  episode.tasks = tasks_of(line);
  episode.data_file = episode.index;
  episode.data_chunk = episode.index / context.chunks_size;
  const EpisodeVideo video{episode.data_chunk, episode.data_file, 0, static_cast<double>(episode.to) / context.fps};
  episode.videos.assign(context.video_keys.size(), video);
  return episode;
}

void read_episodes(const MetaContext& context, MetaFiles& meta) {
  for_each_line(context.root, kLayoutV21.episodes,
                [&](const Line& line) { meta.episodes.push_back(read_episode(line, context)); });
  std::ranges::stable_sort(meta.episodes, {}, &Episode::index);
  std::int64_t frames = 0;
  for (Episode& episode : meta.episodes) {
    episode.from = frames;
    episode.to += frames;
    frames = std::max(frames, episode.to);
  }
}

DatasetStats read_stats(const MetaContext& context) {
  std::vector<DatasetStats> of_episodes;
  if (!std::filesystem::exists(context.root / kLayoutV21.stats)) return {};
  for_each_line(context.root, kLayoutV21.stats, [&](const Line& line) {
    const bj::value& stats = line.at("stats");
    if (!stats.is_object()) fail(ErrorKind::kData, "{}: \"stats\" is not an object.", line.name);
    of_episodes.push_back(parse_stats(stats.get_object(), line.name, context.features));
  });
  return aggregate_stats(of_episodes, kLayoutV21.stats);
}

}  // namespace

MetaFiles read_meta_v21(const MetaContext& context) {
  MetaFiles meta;
  std::vector<std::string> files = {std::string(kLayoutV21.tasks), std::string(kLayoutV21.episodes)};
  if (std::filesystem::exists(context.root / kLayoutV21.stats)) files.emplace_back(kLayoutV21.stats);
  check_meta_files(context.root, files);
  for_each_line(context.root, kLayoutV21.tasks, [&](const Line& line) {
    add_task(meta, kLayoutV21.tasks, line.integer("task_index"), line.text("task"));
  });
  read_episodes(context, meta);
  meta.stats = read_stats(context);
  return meta;
}

}  // namespace lerobot::data
