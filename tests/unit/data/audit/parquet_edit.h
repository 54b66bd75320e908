#pragma once

#include <arrow/api.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace lerobot::data {

/// Reads a parquet file, lets `edit` change the table, and writes it back.
void edit_parquet(const std::filesystem::path& file,
                  const std::function<std::shared_ptr<arrow::Table>(const std::shared_ptr<arrow::Table>&)>& edit);

/// Adds `by` to an integer of a column, in the row given.
void add_to_integer(const std::filesystem::path& file, const std::string& column, std::int64_t row, std::int64_t by);
/// Exchanges the integers of two rows of a column.
void swap_integers(const std::filesystem::path& file, const std::string& column, std::int64_t row, std::int64_t other);
/// Sets one number of a float column, scalar or of lists.
void set_float(const std::filesystem::path& file, const std::string& column, std::int64_t element, float value);
void remove_column(const std::filesystem::path& file, const std::string& column);
void remove_last_rows(const std::filesystem::path& file, std::int64_t rows);

}  // namespace lerobot::data
