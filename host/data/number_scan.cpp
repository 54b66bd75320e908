#include "host/data/number_scan.h"

#include <arrow/io/file.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <deque>
#include <future>
#include <thread>

#include "host/data/arrow_error.h"

namespace lerobot::data {
namespace {

/// Bounds the memory of a pass: rows of the asked columns, whatever the size of the row groups.
constexpr std::int64_t kBatchRows = 8192;

/// More threads than this wait for the one that visits.
constexpr unsigned kMostThreads = 4;

/// Parquet's levels of one column for the rows at hand: which values are there, and where lists begin.
struct Levels {
  std::vector<std::int16_t> definitions, repetitions;
};

/// Whether each value is there and each list has `width` of them.
bool is_even(const Levels& levels, std::int64_t count, const parquet::ColumnDescriptor& leaf, std::int64_t width) {
  if (leaf.max_definition_level() > 0) {
    const auto* found = levels.definitions.data();
    if (std::any_of(found, found + count, [&](std::int16_t level) { return level != leaf.max_definition_level(); })) {
      return false;
    }
  }
  if (leaf.max_repetition_level() == 0) return true;
  for (std::int64_t i = 0; i < count; ++i) {
    if ((levels.repetitions[static_cast<std::size_t>(i)] == 0) != (i % width == 0)) return false;
  }
  return true;
}

/// Reads `rows` rows; false when some are not even.
template <class Physical, class Value>
bool read_as(parquet::ColumnReader& reader, std::int64_t rows, std::int64_t width, Levels& levels, Value* out) {
  const std::int64_t wanted = rows * width;
  const auto size = static_cast<std::size_t>(wanted);
  if (levels.definitions.size() < size) levels.definitions.resize(size);
  if (levels.repetitions.size() < size) levels.repetitions.resize(size);
  auto& typed = static_cast<parquet::TypedColumnReader<Physical>&>(reader);
  std::int64_t done = 0;
  while (done < wanted && typed.HasNext()) {
    std::int64_t values = 0;
    const std::int64_t read = typed.ReadBatch(wanted - done, levels.definitions.data() + done,
                                              levels.repetitions.data() + done, out + done, &values);
    if (values == 0 || values != read) return false;
    done += values;
  }
  return done == wanted && is_even(levels, wanted, *reader.descr(), width);
}

/// Reads rows of a column to the row `first` of a batch and after it.
bool read_column(parquet::ColumnReader& reader, std::int64_t rows, std::int64_t first, const Buffer& out,
                 Levels& levels) {
  const std::int64_t width = out.shape[1];
  const std::int64_t place = first * width;
  switch (reader.type()) {
    case parquet::Type::BOOLEAN:
      return read_as<parquet::BooleanType>(reader, rows, width, levels, elements_of<bool>(out) + place);
    case parquet::Type::INT64:
      return read_as<parquet::Int64Type>(reader, rows, width, levels, elements_of<std::int64_t>(out) + place);
    case parquet::Type::FLOAT:
      return read_as<parquet::FloatType>(reader, rows, width, levels, elements_of<float>(out) + place);
    default:
      return false;
  }
}

bool is_read_here(const parquet::ColumnDescriptor& leaf, const NumberScan::Column& column) {
  const bool plain_logical = leaf.logical_type() == nullptr || leaf.logical_type()->is_none();
  const bool type_fits =
      (column.dtype == DType::kBool && leaf.physical_type() == parquet::Type::BOOLEAN) ||
      (column.dtype == DType::kInt64 && leaf.physical_type() == parquet::Type::INT64 && plain_logical) ||
      (column.dtype == DType::kFloat32 && leaf.physical_type() == parquet::Type::FLOAT);
  return type_fits && leaf.max_repetition_level() <= 1 && (leaf.max_repetition_level() == 1 || column.width == 1);
}

}  // namespace

NumberScan::NumberScan(const ParquetFile& file, std::vector<Column> columns)
    : file_(file), columns_(std::move(columns)) {
  for (const Column& column : columns_) leaves_.push_back(find_leaf(column));
}

int NumberScan::find_leaf(const Column& column) const {
  const parquet::SchemaDescriptor& schema = *file_.reader().metadata()->schema();
  int found = -1;
  for (int i = 0; i < schema.num_columns(); ++i) {
    if (schema.GetColumnRoot(i)->name() != column.name) continue;
    if (found >= 0 || !is_read_here(*schema.Column(i), column)) return -1;
    found = i;
  }
  return found;
}

bool NumberScan::suits() const {
  return std::find(leaves_.begin(), leaves_.end(), -1) == leaves_.end();
}

/// Rows of all columns; `even` is false when they cannot be read here.
class NumberScan::Batch {
 public:
  explicit Batch(const std::vector<Column>& columns) {
    for (const Column& column : columns) values_.push_back(make_buffer(column.dtype, {kBatchRows, column.width}));
  }

  /// `ends_group`: these are the group's last rows, and a list that goes on after them is too long.
  void append(const std::vector<std::shared_ptr<parquet::ColumnReader>>& readers, std::int64_t rows, bool ends_group) {
    Levels levels;
    for (std::size_t i = 0; even_ && i < readers.size(); ++i) {
      even_ = read_column(*readers[i], rows, rows_, values_[i], levels) && !(ends_group && readers[i]->HasNext());
    }
    rows_ += rows;
  }
  bool visit(const Visit& visit) const {
    if (even_) visit(rows_, values_);
    return even_;
  }

 private:
  std::vector<Buffer> values_;
  std::int64_t rows_ = 0;
  bool even_ = true;
};

std::vector<std::shared_ptr<parquet::ColumnReader>> NumberScan::open_group(int group) const {
  const auto row_group = file_.reader().RowGroup(group);
  std::vector<std::shared_ptr<parquet::ColumnReader>> readers;
  for (const int leaf : leaves_) readers.push_back(row_group->Column(leaf));
  return readers;
}

NumberScan::Batch NumberScan::read_groups(int first, int last) const {
  Batch batch(columns_);
  for (int group = first; group <= last; ++group) batch.append(open_group(group), rows_of(group), /*ends_group=*/true);
  return batch;
}

bool NumberScan::visit_large_group(int group, const Visit& visit) const {
  const auto readers = open_group(group);
  for (std::int64_t left = rows_of(group); left > 0; left -= kBatchRows) {
    Batch batch(columns_);
    batch.append(readers, std::min(left, kBatchRows), /*ends_group=*/left <= kBatchRows);
    if (!batch.visit(visit)) return false;
  }
  return true;
}

std::int64_t NumberScan::rows_of(int group) const {
  return file_.reader().metadata()->RowGroup(group)->num_rows();
}

bool NumberScan::for_each_batch(const Visit& visit) const {
  return guard_parquet(file_.relative_path(), [&] {
    const int groups = file_.reader().metadata()->num_row_groups();
    const std::size_t ahead = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
    std::deque<std::future<Batch>> reading;
    const auto visit_first = [&] {
      const Batch batch = reading.front().get();
      reading.pop_front();
      return batch.visit(visit);
    };
    for (int first = 0; first < groups;) {
      int next = first;
      for (std::int64_t rows = 0; next < groups && (rows += rows_of(next)) <= kBatchRows;) ++next;
      const bool is_large = next == first;
      while (!reading.empty() && (is_large || reading.size() >= ahead)) {
        if (!visit_first()) return false;
      }
      if (is_large) {
        if (!visit_large_group(first++, visit)) return false;
        continue;
      }
      reading.push_back(
          std::async(std::launch::async, [this, first, last = next - 1] { return read_groups(first, last); }));
      first = next;
    }
    while (!reading.empty()) {
      if (!visit_first()) return false;
    }
    return true;
  });
}

}  // namespace lerobot::data
