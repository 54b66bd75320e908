#include <algorithm>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/data/file_check.h"
#include "host/data/meta_files.h"
#include "host/data/parquet_file.h"

namespace lerobot::data {
namespace {

/// meta/episodes/*/*.parquet, sorted by path.
std::vector<std::string> find_episode_files(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& chunk : fs::directory_iterator(root / kLayoutV30.episodes, error)) {
    if (!chunk.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(chunk.path())) {
      if (file.path().extension() == ".parquet") files.push_back(fs::relative(file.path(), root).generic_string());
    }
  }
  if (files.empty()) {
    fail(ErrorKind::kData, "dataset {}: no file matches {}/*/*.parquet. Fetch the dataset's meta folder again.",
         root.string(), kLayoutV30.episodes);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The column with the tasks' text: by name, as pandas' unnamed index, or the only text there is.
std::string find_task_column(const ParquetFile& file) {
  for (const char* name : {"task", "__index_level_0__"}) {
    if (file.is_string_column(name)) return name;
  }
  std::vector<std::string> texts;
  for (const std::string& name : file.columns()) {
    if (file.is_string_column(name)) texts.push_back(name);
  }
  if (texts.size() == 1) return texts.front();
  fail(ErrorKind::kData, "{}: no column holds the tasks' text (looked for task and __index_level_0__ in: {}).",
       kLayoutV30.tasks, join(file.columns(), ", "));
}

std::string video_column(const std::string& key, std::string_view field) {
  return "videos/" + key + "/" + std::string(field);
}

std::vector<std::string> episode_columns(const std::vector<std::string>& video_keys) {
  std::vector<std::string> columns = {"episode_index", "data/chunk_index", "data/file_index", "dataset_from_index",
                                      "dataset_to_index"};
  for (const std::string& key : video_keys) {
    for (const char* field : {"chunk_index", "file_index", "from_timestamp", "to_timestamp"}) {
      columns.push_back(video_column(key, field));
    }
  }
  return columns;
}

std::vector<Episode> read_batch(const ParquetBatch& batch, const std::vector<std::string>& video_keys,
                                bool with_tasks) {
  std::vector<Episode> episodes(static_cast<std::size_t>(batch.rows()));
  const auto integers = [&](const std::string& column, const auto& assign) {
    const Buffer values = batch.numbers(column, 1, DType::kInt64);
    for (std::size_t i = 0; i < episodes.size(); ++i) assign(episodes[i], elements_of<std::int64_t>(values)[i]);
  };
  const auto seconds = [&](const std::string& column, const auto& assign) {
    const Buffer values = batch.numbers(column, 1, DType::kFloat64);
    for (std::size_t i = 0; i < episodes.size(); ++i) assign(episodes[i], elements_of<double>(values)[i]);
  };
  integers("episode_index", [](Episode& episode, std::int64_t value) { episode.index = value; });
  integers("data/chunk_index", [](Episode& episode, std::int64_t value) { episode.data_chunk = value; });
  integers("data/file_index", [](Episode& episode, std::int64_t value) { episode.data_file = value; });
  integers("dataset_from_index", [](Episode& episode, std::int64_t value) { episode.from = value; });
  integers("dataset_to_index", [](Episode& episode, std::int64_t value) { episode.to = value; });
  for (Episode& episode : episodes) episode.videos.resize(video_keys.size());
  for (std::size_t v = 0; v < video_keys.size(); ++v) {
    const std::string& key = video_keys[v];
    integers(video_column(key, "chunk_index"), [v](Episode& e, std::int64_t value) { e.videos[v].chunk = value; });
    integers(video_column(key, "file_index"), [v](Episode& e, std::int64_t value) { e.videos[v].file = value; });
    seconds(video_column(key, "from_timestamp"), [v](Episode& e, double value) { e.videos[v].from_timestamp = value; });
    seconds(video_column(key, "to_timestamp"), [v](Episode& e, double value) { e.videos[v].to_timestamp = value; });
  }
  if (with_tasks) {
    auto tasks = batch.string_lists("tasks");
    for (std::size_t i = 0; i < episodes.size(); ++i) episodes[i].tasks = std::move(tasks[i]);
  }
  return episodes;
}

void read_tasks(const std::filesystem::path& root, MetaFiles& meta) {
  const ParquetFile file(root, std::string(kLayoutV30.tasks));
  file.require_columns({"task_index"}, "the list of tasks");
  const std::string text_column = find_task_column(file);
  file.for_each_batch({"task_index", text_column}, [&](const ParquetBatch& batch) {
    const Buffer indices = batch.numbers("task_index", 1, DType::kInt64);
    std::vector<std::string> texts = batch.strings(text_column);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      add_task(meta, kLayoutV30.tasks, elements_of<std::int64_t>(indices)[i], std::move(texts[i]));
    }
  });
}

void read_episodes(const MetaContext& context, const std::string& path, MetaFiles& meta) {
  const ParquetFile file(context.root, path);
  std::vector<std::string> columns = episode_columns(context.video_keys);
  file.require_columns(columns, "meta/info.json");
  const bool with_tasks = file.has_column("tasks");
  if (with_tasks) columns.push_back("tasks");
  file.for_each_batch(columns, [&](const ParquetBatch& batch) {
    std::vector<Episode> rows = read_batch(batch, context.video_keys, with_tasks);
    std::move(rows.begin(), rows.end(), std::back_inserter(meta.episodes));
  });
}

}  // namespace

MetaFiles read_meta_v30(const MetaContext& context) {
  MetaFiles meta;
  const std::vector<std::string> episode_files = find_episode_files(context.root);
  std::vector<std::string> files = episode_files;
  files.emplace(files.begin(), kLayoutV30.tasks);
  if (std::filesystem::exists(context.root / kLayoutV30.stats)) files.emplace_back(kLayoutV30.stats);
  check_meta_files(context.root, files);
  meta.stats = load_stats(context.root, context.features);
  read_tasks(context.root, meta);
  for (const std::string& file : episode_files) read_episodes(context, file, meta);
  return meta;
}

}  // namespace lerobot::data
