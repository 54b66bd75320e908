#pragma once

// Private to the sources that use Arrow.

#include <arrow/result.h>
#include <parquet/exception.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "host/base/error.h"

namespace lerobot::data {

[[noreturn]] inline void fail_parquet(std::string_view file, std::string reason) {
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  fail(ErrorKind::kData, "{}: cannot be read as parquet ({}). Fetch the file again.", file, reason);
}

template <class T>
T unwrap(arrow::Result<T> result, std::string_view file) {
  if (!result.ok()) fail_parquet(file, result.status().message());
  return std::move(result).ValueUnsafe();
}

/// Runs `body`; what the parquet library and impossible sizes throw becomes Error(kData) with the file's name.
template <class Body>
auto guard_parquet(std::string_view file, const Body& body) {
  try {
    return body();
  } catch (const parquet::ParquetException& error) {
    fail_parquet(file, error.what());
  } catch (const std::length_error& error) {  // a vector of a size that the file told
    fail_parquet(file, error.what());
  } catch (const std::bad_alloc& error) {
    fail_parquet(file, error.what());
  }
}

}  // namespace lerobot::data
