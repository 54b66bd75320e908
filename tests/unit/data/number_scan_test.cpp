#include "host/data/number_scan.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <functional>
#include <map>

#include "tests/unit/data/synthetic_dataset.h"

namespace lerobot::data {
namespace {

constexpr std::int64_t kWidth = 3;

constexpr std::int64_t kNullList = -1, kNullValue = -2;

/// Rows of `index` (row number) and `state`, a list of kWidth floats that count on, or what `length` says of a row.
void write_rows(
    const std::filesystem::path& path, std::int64_t rows, std::int64_t group_rows,
    const std::function<std::int64_t(std::int64_t row)>& length = [](std::int64_t) { return kWidth; }) {
  arrow::Int64Builder index;
  const auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder state(arrow::default_memory_pool(), values);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t wanted = length(row);
    ASSERT_TRUE(index.Append(row).ok() && (wanted == kNullList ? state.AppendNull() : state.Append()).ok());
    for (std::int64_t i = 0; i < (wanted == kNullValue ? kWidth : wanted); ++i) {
      const bool is_null = wanted == kNullValue && i == 1;
      ASSERT_TRUE((is_null ? values->AppendNull() : values->Append(static_cast<float>(row * kWidth + i))).ok());
    }
  }
  const auto schema =
      arrow::schema({arrow::field("index", arrow::int64()), arrow::field("state", arrow::list(arrow::float32()))});
  const auto table = arrow::Table::Make(schema, {*index.Finish(), *state.Finish()});
  const auto sink = *arrow::io::FileOutputStream::Open(path.string());
  ASSERT_TRUE(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, group_rows).ok());
  ASSERT_TRUE(sink->Close().ok());
}

const std::vector<NumberScan::Column> kColumns = {{"state", kWidth, DType::kFloat32}, {"index", 1, DType::kInt64}};

TEST(NumberScan, GivesAllRowsInOrderHoweverLargeTheRowGroups) {
  const TempDirectory directory;
  constexpr std::int64_t kRows = 40000;
  for (const std::int64_t group_rows : {7, 3000, 20000, 100000}) {
    write_rows(directory.path() / "a.parquet", kRows, group_rows);
    const ParquetFile file(directory.path(), "a.parquet");
    const NumberScan scan(file, kColumns);
    ASSERT_TRUE(scan.suits());
    std::int64_t at = 0, wrong = 0;
    EXPECT_TRUE(scan.for_each_batch([&](std::int64_t rows, const std::vector<Buffer>& columns) {
      for (std::int64_t row = 0; row < rows; ++row, ++at) {
        wrong += elements_of<std::int64_t>(columns[1])[row] != at;
        for (std::int64_t i = 0; i < kWidth; ++i) {
          wrong += elements_of<float>(columns[0])[row * kWidth + i] != static_cast<float>(at * kWidth + i);
        }
      }
    }));
    EXPECT_EQ(at, kRows) << group_rows;
    EXPECT_EQ(wrong, 0) << group_rows;
  }
}

TEST(NumberScan, StopsAtNullsAndUnevenListsAndNeverShiftsTheirValues) {
  const TempDirectory directory;
  const auto is_read = [&](const std::map<std::int64_t, std::int64_t>& lengths, std::int64_t group_rows = 10) {
    constexpr std::int64_t kRows = 10000;
    write_rows(directory.path() / "a.parquet", kRows, group_rows,
               [&](std::int64_t row) { return lengths.contains(row) ? lengths.at(row) : kWidth; });
    const ParquetFile file(directory.path(), "a.parquet");
    std::int64_t rows = 0;
    const bool complete = NumberScan(file, kColumns).for_each_batch([&](std::int64_t n, const auto&) { rows += n; });
    EXPECT_EQ(rows == kRows, complete);
    return complete;
  };
  for (const std::int64_t group_rows : {10, 100000}) {
    EXPECT_TRUE(is_read({}, group_rows));
    for (const std::int64_t row : {0, 55, 9999}) {
      for (const std::int64_t length : {kNullList, kNullValue, std::int64_t{0}, std::int64_t{2}, std::int64_t{4}}) {
        EXPECT_FALSE(is_read({{row, length}}, group_rows)) << "row " << row << " has " << length;
      }
    }
    EXPECT_FALSE(is_read({{20, 4}, {21, 2}}, group_rows)) << "the number of values is right";
  }
}

TEST(NumberScan, LeavesOtherTypesToOthers) {
  const TempDirectory directory;
  write_rows(directory.path() / "a.parquet", 10, 10);
  const ParquetFile file(directory.path(), "a.parquet");
  EXPECT_FALSE(NumberScan(file, {{"index", 1, DType::kFloat32}}).suits());
  EXPECT_FALSE(NumberScan(file, {{"state", kWidth, DType::kInt64}}).suits());
  EXPECT_FALSE(NumberScan(file, {{"index", 2, DType::kInt64}}).suits());
  EXPECT_FALSE(NumberScan(file, {{"absent", 1, DType::kInt64}}).suits());
}

}  // namespace
}  // namespace lerobot::data
