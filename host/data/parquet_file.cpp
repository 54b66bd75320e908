#include "host/data/parquet_file.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include <algorithm>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/data/arrow_error.h"

namespace lerobot::data {
namespace {

/// Bound the memory of a pass over a file: rows of the asked columns, whatever the size of the row groups, and numbers
/// of lists whose length the schema tells, since a missing list is read as so many zeros.
constexpr std::int64_t kBatchRows = 8192;
constexpr std::int64_t kBatchNumbers = 1 << 22;

std::unique_ptr<parquet::arrow::FileReader> open(const std::filesystem::path& path, std::string_view file) {
  return guard_parquet(file, [&] {
    auto source = unwrap(arrow::io::ReadableFile::Open(path.string()), file);
    parquet::ReaderProperties properties = parquet::default_reader_properties();
    properties.enable_buffered_stream();
    auto reader = parquet::ParquetFileReader::Open(std::move(source), properties);
    parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
    arrow_properties.set_pre_buffer(false);
    return unwrap(parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(reader), arrow_properties),
                  file);
  });
}

std::vector<std::string> top_level_columns(const parquet::SchemaDescriptor& schema) {
  std::vector<std::string> names;
  const parquet::schema::GroupNode* root = schema.group_node();
  for (int i = 0; i < root->field_count(); ++i) names.push_back(root->field(i)->name());
  return names;
}

/// Loops and buffers rely on it.
void check_row_groups(const parquet::FileMetaData& metadata, std::string_view file) {
  std::int64_t left = metadata.num_rows();
  for (int i = 0; i < metadata.num_row_groups(); ++i) {
    const std::int64_t rows = metadata.RowGroup(i)->num_rows();
    if (rows < 0 || rows > left) fail_parquet(file, format("row group {} says that it has {} rows", i, rows));
    left -= rows;
  }
  if (left != 0) fail_parquet(file, format("its row groups have {} rows too few", left));
}

/// The longest lists of a fixed length in the type; 0 if it has none.
std::int64_t fixed_length(const arrow::DataType& type) {
  std::int64_t longest = 0;
  for (const auto& field : type.fields()) longest = std::max(longest, fixed_length(*field->type()));
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) return longest;
  const std::int64_t own = static_cast<const arrow::FixedSizeListType&>(type).list_size();
  return longest > 0 && own > kBatchNumbers / longest ? kBatchNumbers + 1 : own * std::max<std::int64_t>(longest, 1);
}

void limit_batches(parquet::arrow::FileReader& reader, std::string_view file) {
  std::shared_ptr<arrow::Schema> schema;
  const arrow::Status status = reader.GetSchema(&schema);
  if (!status.ok()) fail_parquet(file, status.message());
  std::int64_t longest = 1;
  for (const auto& field : schema->fields()) {
    const std::int64_t length = fixed_length(*field->type());
    if (length > kBatchNumbers) fail_parquet(file, format("column {} is of lists too long to be read", field->name()));
    longest = std::max(longest, length);
  }
  reader.set_batch_size(std::min(kBatchRows, kBatchNumbers / longest));
}

}  // namespace

struct ParquetFile::Impl {
  std::string relative_path;
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::vector<std::string> columns;

  const parquet::FileMetaData& metadata() const { return *reader->parquet_reader()->metadata(); }
};

ParquetFile::ParquetFile(const std::filesystem::path& root, std::string relative_path)
    : impl_(std::make_unique<Impl>()) {
  impl_->relative_path = std::move(relative_path);
  impl_->reader = open(root / impl_->relative_path, impl_->relative_path);
  guard_parquet(impl_->relative_path, [&] {
    check_row_groups(impl_->metadata(), impl_->relative_path);
    limit_batches(*impl_->reader, impl_->relative_path);
  });
  impl_->columns = top_level_columns(*impl_->metadata().schema());
}

ParquetFile::~ParquetFile() = default;

const std::string& ParquetFile::relative_path() const {
  return impl_->relative_path;
}

parquet::ParquetFileReader& ParquetFile::reader() const {
  return *impl_->reader->parquet_reader();
}

std::int64_t ParquetFile::rows() const {
  return impl_->metadata().num_rows();
}

const std::vector<std::string>& ParquetFile::columns() const {
  return impl_->columns;
}

bool ParquetFile::has_column(std::string_view name) const {
  return std::find(impl_->columns.begin(), impl_->columns.end(), name) != impl_->columns.end();
}

bool ParquetFile::is_string_column(std::string_view name) const {
  const parquet::schema::GroupNode* root = impl_->metadata().schema()->group_node();
  const int index = root->FieldIndex(std::string(name));
  return index >= 0 && root->field(index)->logical_type()->is_string();
}

void ParquetFile::require_columns(const std::vector<std::string>& names, std::string_view source) const {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!has_column(name)) missing.push_back(name);
  }
  if (missing.empty()) return;
  fail(ErrorKind::kData, "{}: column {} is missing, and {} needs it. The columns are {}.", impl_->relative_path,
       join(missing, ", "), source, join(impl_->columns, ", "));
}

void ParquetFile::for_each_batch(const std::vector<std::string>& columns,
                                 const std::function<void(const ParquetBatch&)>& visit) const {
  guard_parquet(impl_->relative_path, [&] {
    const parquet::FileMetaData& metadata = impl_->metadata();
    std::vector<int> leaves;
    for (int i = 0; i < metadata.schema()->num_columns(); ++i) {
      const std::string& name = metadata.schema()->GetColumnRoot(i)->name();
      if (std::find(columns.begin(), columns.end(), name) != columns.end()) leaves.push_back(i);
    }
    std::vector<int> groups(static_cast<std::size_t>(metadata.num_row_groups()));
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
    auto batches = unwrap(impl_->reader->GetRecordBatchReader(groups, leaves), impl_->relative_path);
    while (auto batch = unwrap(batches->Next(), impl_->relative_path)) {
      visit(ParquetBatch(batch.get(), impl_->relative_path));
    }
  });
}

}  // namespace lerobot::data
