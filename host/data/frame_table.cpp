#include "host/data/frame_table.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/data/parquet_file.h"

namespace lerobot::data {
namespace {

/// The type that Python's reader gives: it goes through Python's float, int and bool, so that every float becomes
/// float32 and every integer int64.
DType item_dtype(const std::string& key, const FeatureSpec& feature) {
  if (feature.dtype == "bool") return DType::kBool;
  if (feature.dtype.starts_with("float")) return DType::kFloat32;
  if (feature.dtype.starts_with("int") || feature.dtype.starts_with("uint")) return DType::kInt64;
  fail(ErrorKind::kData,
       "meta/info.json: feature {} has dtype \"{}\", needed bool, a float, an integer, string, image or video.", key,
       feature.dtype);
}

}  // namespace

/// Reads one file after the other into the table.
class FrameTable::Loader {
 public:
  Loader(const DatasetMetadata& metadata, std::vector<Episode>& episodes, FrameTable& table)
      : metadata_(metadata), episodes_(episodes), table_(table), found_(episodes.size(), 0) {
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < episodes_.size(); ++i) {
      position_[episodes_[i].index] = i;
      rows += episodes_[i].length();
      table_.files_.push_back(metadata_.data_path(episodes_[i]));
    }
    std::sort(table_.files_.begin(), table_.files_.end());
    table_.files_.erase(std::unique(table_.files_.begin(), table_.files_.end()), table_.files_.end());
    table_.places_.resize(episodes_.size());
    table_.episode_of_row_.reserve(static_cast<std::size_t>(rows));
    declare_columns(static_cast<std::size_t>(rows));
  }

  void load() {
    check_parquet_files(metadata_.root(), table_.files_);
    for (std::size_t i = 0; i < table_.files_.size(); ++i) load_file(i);
    for (std::size_t i = 0; i < episodes_.size(); ++i) check_episode(i);
  }

 private:
  void declare_columns(std::size_t rows) {
    for (const auto& [key, feature] : metadata_.features()) {
      if (feature.is_video()) continue;
      required_.push_back(key);
      if (feature.is_string()) {
        table_.strings_[key].reserve(rows);
      } else if (feature.is_number()) {
        Column& column = table_.columns_[key];
        column.dtype = item_dtype(key, feature);
        column.row_shape = feature.item_shape();
        column.row_bytes = static_cast<std::size_t>(feature.elements()) * item_size(column.dtype);
        column.data.reserve(rows * column.row_bytes);
      } else if (feature.is_language()) {
        log::warn("meta/info.json: feature {} of dtype language is not read; no policy here uses it", key);
        required_.pop_back();
      }
    }
  }

  void load_file(std::size_t file) {
    const ParquetFile parquet(metadata_.root(), table_.files_[file]);
    parquet.require_columns(required_, "meta/info.json");
    std::vector<std::string> read;
    for (const auto& entry : table_.columns_) read.push_back(entry.first);
    for (const auto& entry : table_.strings_) read.push_back(entry.first);
    std::int64_t file_row = 0;
    parquet.for_each_batch(read, [&](const ParquetBatch& batch) {
      add_batch(batch, file, file_row);
      file_row += batch.rows();
    });
  }

  void add_batch(const ParquetBatch& batch, std::size_t file, std::int64_t file_row) {
    const Buffer numbers = batch.numbers("episode_index", 1, DType::kInt64);
    const auto* episode_index = elements_of<std::int64_t>(numbers);
    kept_.clear();
    for (std::int64_t i = 0; i < batch.rows(); ++i) {
      const auto found = position_.find(episode_index[i]);
      if (found == position_.end()) continue;
      add_row(found->second, file, file_row + i);
      kept_.push_back(i);
    }
    if (kept_.empty()) return;
    for (auto& [key, column] : table_.columns_) append_numbers(batch, key, column);
    for (auto& [key, column] : table_.strings_) {
      std::vector<std::string> texts = batch.strings(key);
      for (const std::int64_t i : kept_) column.push_back(std::move(texts[static_cast<std::size_t>(i)]));
    }
  }

  /// Notes that the next row of the table belongs to this episode.
  void add_row(std::size_t episode, std::size_t file, std::int64_t file_row) {
    std::int64_t& found = found_[episode];
    Place& place = table_.places_[episode];
    if (found == 0) {
      place = {file, file_row};
      episodes_[episode].first_row = table_.rows_;
    } else if (place.file != file || place.first_row + found != file_row) {
      fail(ErrorKind::kData, "{}: the rows of episode {} are not next to each other in one file (row {} is apart).",
           table_.files_[file], episodes_[episode].index, file_row);
    }
    ++found;
    table_.episode_of_row_.push_back(static_cast<std::uint32_t>(episode));
    ++table_.rows_;
  }

  void append_numbers(const ParquetBatch& batch, const std::string& key, Column& column) const {
    const auto width = static_cast<std::int64_t>(column.row_bytes / item_size(column.dtype));
    const Buffer values = batch.numbers(key, width, column.dtype);
    const std::size_t end = column.data.size();
    column.data.resize(end + kept_.size() * column.row_bytes);
    std::byte* out = column.data.data() + end;
    for (const std::int64_t i : kept_) {
      std::memcpy(out, values.data.get() + static_cast<std::size_t>(i) * column.row_bytes, column.row_bytes);
      out += column.row_bytes;
    }
  }

  void check_episode(std::size_t i) const {
    if (found_[i] == episodes_[i].length()) return;
    fail(ErrorKind::kData, "{}: episode {} has {} rows, but meta/episodes says {} (frames {} to {}).",
         metadata_.data_path(episodes_[i]), episodes_[i].index, found_[i], episodes_[i].length(), episodes_[i].from,
         episodes_[i].to);
  }

  const DatasetMetadata& metadata_;
  std::vector<Episode>& episodes_;
  FrameTable& table_;
  std::unordered_map<std::int64_t, std::size_t> position_;  ///< by episode number
  std::vector<std::int64_t> found_;                         ///< rows of each episode so far
  std::vector<std::string> required_;
  std::vector<std::int64_t> kept_;
};

FrameTable::FrameTable(const DatasetMetadata& metadata, std::vector<Episode>& episodes) {
  Loader(metadata, episodes, *this).load();
}

const std::int64_t* FrameTable::integers(std::string_view column) const {
  return reinterpret_cast<const std::int64_t*>(columns_.find(column)->data.data());
}

const float* FrameTable::floats(std::string_view column) const {
  return reinterpret_cast<const float*>(columns_.find(column)->data.data());
}

}  // namespace lerobot::data
