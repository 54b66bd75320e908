#include "host/data/frame_table.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/data/number_scan.h"
#include "host/data/parquet_file.h"

namespace lerobot::data {
namespace {

/// Columns that the checks of a dataset need, whoever else does.
constexpr std::array<std::string_view, 4> kChecked = {"episode_index", "frame_index", "timestamp", "task_index"};

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
  Loader(const DatasetMetadata& metadata, std::vector<Episode>& episodes,
         const std::optional<std::vector<std::string>>& features, FrameTable& table)
      : metadata_(metadata), features_(features), episodes_(episodes), table_(table), found_(episodes.size(), 0) {
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < episodes_.size(); ++i) {
      position_[episodes_[i].index] = i;
      rows += episodes_[i].length();
    }
    table_.files_ = metadata_.data_files(episodes_);
    table_.places_.resize(episodes_.size());
    declare_columns();
    reserve(static_cast<std::size_t>(rows));
  }

  void load() {
    for (std::size_t i = 0; i < table_.files_.size(); ++i) load_file(i);
    for (std::size_t i = 0; i < episodes_.size(); ++i) check_episode(i);
  }

 private:
  /// Room for all rows. They are as many as the metadata says, which may be nonsense.
  void reserve(std::size_t rows) {
    std::size_t row_bytes = sizeof(table_.episode_of_row_[0]);
    for (const auto& [key, column] : table_.columns_) row_bytes += column.row_bytes;
    const auto memory =
        static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (rows > memory / row_bytes) {
      fail(ErrorKind::kData,
           "the episodes have {} frames of {} bytes each, camera images aside, which do not fit into this machine's {} "
           "GiB of memory. Choose some with --dataset.episodes, or repair meta/.",
           rows, row_bytes, memory >> 30U);
    }
    table_.episode_of_row_.reserve(rows);
    for (auto& [key, column] : table_.columns_) column.data.reserve(rows * column.row_bytes);
    for (auto& [key, column] : table_.strings_) column.reserve(rows);
  }

  void declare_columns() {
    for (const auto& [key, feature] : metadata_.features()) {
      if (feature.is_video()) continue;
      required_.push_back(key);
      if (!is_read(key)) continue;
      if (feature.is_string()) {
        table_.strings_[key];
      } else if (feature.is_number()) {
        Column& column = table_.columns_[key];
        column.dtype = item_dtype(key, feature);
        column.row_shape = feature.item_shape();
        column.row_bytes = static_cast<std::size_t>(feature.elements()) * item_size(column.dtype);
      } else if (feature.is_language()) {
        log::warn("meta/info.json: feature {} of dtype language is not read; no policy here uses it", key);
        required_.pop_back();
      }
    }
  }

  bool is_read(const std::string& key) const {
    const auto is_key = [&](std::string_view other) { return key == other; };
    return !features_ || std::any_of(kChecked.begin(), kChecked.end(), is_key) ||
           std::any_of(features_->begin(), features_->end(), is_key);
  }

  void load_file(std::size_t file) {
    const ParquetFile parquet(metadata_.root(), table_.files_[file]);
    parquet.require_columns(required_, "meta/info.json");
    if (table_.strings_.empty() && scan_numbers(parquet, file)) return;
    std::vector<std::string> read;
    for (const auto& entry : table_.columns_) read.push_back(entry.first);
    for (const auto& entry : table_.strings_) read.push_back(entry.first);
    std::int64_t file_row = 0;
    parquet.for_each_batch(read, [&](const ParquetBatch& batch) {
      const Buffer episode_index = batch.numbers("episode_index", 1, DType::kInt64);
      if (choose_rows(episode_index, batch.rows(), file, file_row)) add_batch(batch);
      file_row += batch.rows();
    });
  }

  /// load_file for files of plain numbers; false for others.
  bool scan_numbers(const ParquetFile& parquet, std::size_t file) {
    std::vector<NumberScan::Column> columns;
    std::size_t episode_index = 0;
    for (const auto& [key, column] : table_.columns_) {
      if (key == "episode_index") episode_index = columns.size();
      columns.push_back({key, width(column), column.dtype});
    }
    const NumberScan scan(parquet, columns);
    if (!scan.suits()) return false;
    std::int64_t file_row = 0;
    const bool complete = scan.for_each_batch([&](std::int64_t rows, const std::vector<Buffer>& values) {
      if (choose_rows(values[episode_index], rows, file, file_row)) {
        std::size_t i = 0;
        for (auto& entry : table_.columns_) append_numbers(values[i++], entry.second);
      }
      file_row += rows;
    });
    if (!complete) explain(parquet);
    return true;
  }

  /// Throws what is wrong with the numbers of a file.
  [[noreturn]] void explain(const ParquetFile& parquet) const {
    for (const auto& [key, column] : table_.columns_) {
      parquet.for_each_batch({key}, [&, &name = key, &kind = column](const ParquetBatch& batch) {
        batch.numbers(name, width(kind), kind.dtype);
      });
    }
    fail(ErrorKind::kData, "{}: its columns of numbers have different lengths. Fetch the file again.",
         parquet.relative_path());
  }

  static std::int64_t width(const Column& column) {
    return static_cast<std::int64_t>(column.row_bytes / item_size(column.dtype));
  }

  /// Notes which rows of a batch belong to chosen episodes; false when none does.
  bool choose_rows(const Buffer& episode_index, std::int64_t rows, std::size_t file, std::int64_t file_row) {
    const auto* values = elements_of<std::int64_t>(episode_index);
    kept_.clear();
    for (std::int64_t i = 0; i < rows; ++i) {
      if (const auto episode = find_episode(values[i])) {
        add_row(*episode, file, file_row + i);
        kept_.push_back(i);
      }
    }
    return !kept_.empty();
  }

  /// Rows of one episode follow each other: mostly it is the one of the call before.
  std::optional<std::size_t> find_episode(std::int64_t number) {
    if (last_ && last_->first == number) return last_->second;
    const auto found = position_.find(number);
    if (found == position_.end()) return std::nullopt;
    last_ = *found;
    return found->second;
  }

  void add_batch(const ParquetBatch& batch) {
    for (auto& [key, column] : table_.columns_) {
      append_numbers(batch.numbers(key, width(column), column.dtype), column);
    }
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

  /// Appends the chosen rows of a batch.
  void append_numbers(const Buffer& values, Column& column) const {
    const std::byte* rows = values.data.get();
    const bool is_range = kept_.back() - kept_.front() + 1 == std::ssize(kept_);
    if (is_range) {
      const std::byte* first = rows + static_cast<std::size_t>(kept_.front()) * column.row_bytes;
      column.data.insert(column.data.end(), first, first + kept_.size() * column.row_bytes);
      return;
    }
    for (const std::int64_t i : kept_) {
      const std::byte* row = rows + static_cast<std::size_t>(i) * column.row_bytes;
      column.data.insert(column.data.end(), row, row + column.row_bytes);
    }
  }

  void check_episode(std::size_t i) const {
    if (found_[i] == episodes_[i].length()) return;
    fail(ErrorKind::kData, "{}: episode {} has {} rows, but {} says {} (frames {} to {}).",
         metadata_.data_path(episodes_[i]), episodes_[i].index, found_[i], metadata_.layout().episodes,
         episodes_[i].length(), episodes_[i].from, episodes_[i].to);
  }

  const DatasetMetadata& metadata_;
  const std::optional<std::vector<std::string>>& features_;
  std::vector<Episode>& episodes_;
  FrameTable& table_;
  std::unordered_map<std::int64_t, std::size_t> position_;  ///< by episode number
  std::vector<std::int64_t> found_;                         ///< rows of each episode so far
  std::vector<std::string> required_;
  std::vector<std::int64_t> kept_;  ///< rows of the batch at hand that belong to chosen episodes
  std::optional<std::pair<std::int64_t, std::size_t>> last_;  ///< of position_
};

FrameTable::FrameTable(const DatasetMetadata& metadata, std::vector<Episode>& episodes,
                       const std::optional<std::vector<std::string>>& features) {
  Loader(metadata, episodes, features, *this).load();
}

const std::int64_t* FrameTable::integers(std::string_view column) const {
  return reinterpret_cast<const std::int64_t*>(columns_.find(column)->data.data());
}

const float* FrameTable::floats(std::string_view column) const {
  return reinterpret_cast<const float*>(columns_.find(column)->data.data());
}

}  // namespace lerobot::data
