#include "tests/unit/data/audit/parquet_edit.h"

#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

namespace lerobot::data {
namespace {

std::shared_ptr<arrow::Table> with_column(const std::shared_ptr<arrow::Table>& table, const std::string& name,
                                          const std::shared_ptr<arrow::Array>& values) {
  const int at = table->schema()->GetFieldIndex(name);
  if (at < 0) throw std::runtime_error("no column " + name);
  return table->SetColumn(at, table->schema()->field(at), std::make_shared<arrow::ChunkedArray>(values)).ValueOrDie();
}

std::shared_ptr<arrow::Array> column_of(const std::shared_ptr<arrow::Table>& table, const std::string& name) {
  const auto column = table->GetColumnByName(name);
  if (!column) throw std::runtime_error("no column " + name);
  return arrow::Concatenate(column->chunks()).ValueOrDie();
}

void change_integers(const std::filesystem::path& file, const std::string& column,
                     const std::function<void(std::vector<std::int64_t>&)>& change) {
  edit_parquet(file, [&](const std::shared_ptr<arrow::Table>& table) {
    const auto old = std::static_pointer_cast<arrow::Int64Array>(column_of(table, column));
    std::vector<std::int64_t> values(old->raw_values(), old->raw_values() + old->length());
    change(values);
    arrow::Int64Builder builder;
    PARQUET_THROW_NOT_OK(builder.AppendValues(values));
    return with_column(table, column, builder.Finish().ValueOrDie());
  });
}

}  // namespace

void edit_parquet(const std::filesystem::path& file,
                  const std::function<std::shared_ptr<arrow::Table>(const std::shared_ptr<arrow::Table>&)>& edit) {
  std::shared_ptr<arrow::Table> table;
  {
    const auto input = arrow::io::ReadableFile::Open(file.string()).ValueOrDie();
    const auto reader = parquet::arrow::OpenFile(input, arrow::default_memory_pool()).ValueOrDie();
    table = edit(reader->ReadTable().ValueOrDie());
  }
  const auto output = arrow::io::FileOutputStream::Open(file.string()).ValueOrDie();
  PARQUET_THROW_NOT_OK(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), output, 1 << 20));
  PARQUET_THROW_NOT_OK(output->Close());
}

void add_to_integer(const std::filesystem::path& file, const std::string& column, std::int64_t row, std::int64_t by) {
  change_integers(file, column, [=](auto& values) { values.at(static_cast<std::size_t>(row)) += by; });
}

void swap_integers(const std::filesystem::path& file, const std::string& column, std::int64_t row, std::int64_t other) {
  change_integers(file, column, [=](auto& values) {
    std::swap(values.at(static_cast<std::size_t>(row)), values.at(static_cast<std::size_t>(other)));
  });
}

void set_float(const std::filesystem::path& file, const std::string& column, std::int64_t element, float value) {
  edit_parquet(file, [&](const std::shared_ptr<arrow::Table>& table) {
    // Concatenated arrays are a copy: their one buffer of numbers is ours.
    const std::shared_ptr<arrow::Array> array = column_of(table, column);
    std::shared_ptr<arrow::ArrayData> data = array->data();
    while (!data->child_data.empty()) data = data->child_data.front();
    const_cast<float*>(data->GetValues<float>(1))[element] = value;
    return with_column(table, column, array);
  });
}

void remove_column(const std::filesystem::path& file, const std::string& column) {
  edit_parquet(file, [&](const std::shared_ptr<arrow::Table>& table) {
    return table->RemoveColumn(table->schema()->GetFieldIndex(column)).ValueOrDie();
  });
}

void remove_last_rows(const std::filesystem::path& file, std::int64_t rows) {
  edit_parquet(file, [&](const auto& table) { return table->Slice(0, table->num_rows() - rows); });
}

}  // namespace lerobot::data
