#include "host/config/scalar_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "host/base/json.h"

namespace lerobot::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// One of `words` in lower case, Capitalized or in upper case, as YAML 1.1 wants it.
bool is_yaml_word(std::string_view text, std::string_view word) {
  if (lower(text) != word) return false;
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto count = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), upper));
  return count == 0 || count == text.size() || (count == 1 && upper(text.front()));
}

/// Takes a leading sign off.
bool take_minus(std::string_view& text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  return minus;
}

/// The text without underscores, which may stand between two digits only.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  const auto is_word = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_word(text[i - 1]) || !is_word(text[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

bool is_null_text(std::string_view text) {
  return text == "~" || is_yaml_word(text, "null");
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"true", "yes", "on"}) {
    if (is_yaml_word(text, word)) return true;
  }
  for (const std::string_view word : {"false", "no", "off"}) {
    if (is_yaml_word(text, word)) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  const bool minus = take_minus(text);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0b")) {
    base = text[1] == 'x' ? 16 : 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    return std::nullopt;
  }
  const auto digits = without_underscores(text);
  if (!digits || digits->empty()) return std::nullopt;
  std::uint64_t magnitude = 0;
  const char* end = digits->data() + digits->size();
  const auto [stop, ec] = std::from_chars(digits->data(), end, magnitude, base);
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (ec != std::errc() || stop != end || magnitude > kMax) return std::nullopt;
  const auto value = static_cast<std::int64_t>(magnitude);
  return minus ? -value : value;
}

std::optional<double> parse_float(std::string_view text) {
  const bool minus = take_minus(text);
  double value = 0;
  const std::string word = lower(text);
  if (word == "inf" || word == ".inf" || word == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (word == "nan" || word == ".nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const auto digits = without_underscores(text);
    if (!digits || digits->empty() || !(is_digit(digits->front()) || digits->front() == '.')) return std::nullopt;
    const char* end = digits->data() + digits->size();
    const auto [stop, ec] = std::from_chars(digits->data(), end, value);
    if (ec != std::errc() || stop != end) return std::nullopt;
  }
  return minus ? -value : value;
}

std::string parse_string(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back()) return std::string(text);
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (text.front() == '"') {
    try {
      const auto value = json::parse(text, "", ErrorKind::kUsage);
      if (value.is_string()) return std::string(value.get_string());
    } catch (const Error&) {
      // Not one quoted text: taken as it is.
    }
  } else if (text.front() == '\'') {
    std::string out;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (inside[i] == '\'' && (i + 1 == inside.size() || inside[++i] != '\'')) return std::string(text);
      out += inside[i];
    }
    return out;
  }
  return std::string(text);
}

}  // namespace lerobot::config
