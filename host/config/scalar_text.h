#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/config/node.h"

namespace lerobot::config {

// The values of the command line: everything that one of LeRobot's two grammars (YAML 1.1, or JSON with raw text) reads
// as the wanted type, where the two do not contradict each other.

/// null, Null, NULL, ~
bool is_null_text(std::string_view text);
/// true, false, yes, no, on, off; each lower case, Capitalized or UPPER CASE.
std::optional<bool> parse_bool(std::string_view text);
/// Decimal, 0x hexadecimal, 0b binary; a sign and underscores are allowed. Not `010`: octal for YAML, ten for JSON.
std::optional<std::int64_t> parse_int(std::string_view text);
/// 1e-4, .5, 5, 1_000.5, inf, .inf, Infinity, nan, .nan and their cases.
std::optional<double> parse_float(std::string_view text);
/// The text itself, or what is between its quotes: "a" as JSON has it, 'a' as YAML has it.
std::string parse_string(std::string_view text);

/// Reads a list or mapping: JSON, or YAML's flow style (`{type: act, chunk_size: 7}`). Scalars without quotes stay
/// Plain. Throws Error(kUsage) that names `flag`, the column and what is wrong there.
Node parse_flow(std::string_view text, std::string_view flag);

}  // namespace lerobot::config
