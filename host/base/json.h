#pragma once

#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include "host/base/error.h"

namespace lerobot::json {

namespace bj = boost::json;

/// Whether NaN, Infinity and -Infinity (which Python's json writes) are accepted.
enum class NonFinite { kRefuse, kAccept };

/// Parses a whole document. A byte-order mark and CRLF are accepted; comments, trailing commas and duplicate keys are
/// not. Throws Error(kind) with `name`, line, column and an excerpt.
bj::value parse(std::string_view text, std::string_view name, ErrorKind kind,
                NonFinite non_finite = NonFinite::kRefuse);

/// Reads and parses a file. Throws Error(kind); a missing file says so.
bj::value read_file(const std::filesystem::path& path, ErrorKind kind, NonFinite non_finite = NonFinite::kRefuse);

/// The way Python's json.dump writes: every list item and key on its own line, no trailing newline, floats in Python's
/// shortest form (1e-05, 0.0001, 10.0), NaN and Infinity as words.
struct WriteOptions {
  int indent = 4;
  bool escape_non_ascii = true;
};
std::string write(const bj::value& value, const WriteOptions& options = {});

/// One line without spaces after separators, for JSONL files. NaN and Infinity become null.
std::string write_line(const bj::value& value);

/// Python's repr of a float: the shortest text that reads back as the same double, with '.', 'e' or a word.
std::string float_repr(double value);

}  // namespace lerobot::json
