#include <array>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>

#include "host/base/json.h"

namespace lerobot::json {
namespace {

void append_escape(std::string& out, unsigned unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> static_cast<unsigned>(shift)) & 15U];
}

/// Decodes one UTF-8 character at `i` and moves past it. A broken byte stands for itself (U+FFFD).
char32_t next_code_point(std::string_view text, std::size_t& i) {
  const auto lead = static_cast<unsigned char>(text[i++]);
  const int more = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : -1;
  if (more < 0) return 0xFFFD;
  char32_t value = more == 0 ? lead : lead & (0x3FU >> static_cast<unsigned>(more));
  for (int k = 0; k < more; ++k) {
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0xFFFD;
    value = (value << 6U) | (static_cast<unsigned char>(text[i++]) & 0x3FU);
  }
  return value;
}

void append_string(std::string& out, std::string_view text, bool escape_non_ascii) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(text, i);
    switch (c) {
      case '"':
        out += "\\\"";
        continue;
      case '\\':
        out += "\\\\";
        continue;
      case '\n':
        out += "\\n";
        continue;
      case '\r':
        out += "\\r";
        continue;
      case '\t':
        out += "\\t";
        continue;
      case '\b':
        out += "\\b";
        continue;
      case '\f':
        out += "\\f";
        continue;
      default:
        break;
    }
    if (c < 0x20 || (escape_non_ascii && c >= 0x7F && c <= 0xFFFF && c != 0x7F)) {
      append_escape(out, static_cast<unsigned>(c));
    } else if (escape_non_ascii && c > 0xFFFF) {
      const char32_t rest = c - 0x10000;
      append_escape(out, 0xD800U + static_cast<unsigned>(rest >> 10U));
      append_escape(out, 0xDC00U + static_cast<unsigned>(rest & 0x3FFU));
    } else {
      out.append(text.substr(begin, i - begin));
    }
  }
  out += '"';
}

void append_scalar(std::string& out, const bj::value& value, bool escape_non_ascii) {
  switch (value.kind()) {
    case bj::kind::null:
      out += "null";
      break;
    case bj::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case bj::kind::int64:
      out += std::to_string(value.get_int64());
      break;
    case bj::kind::uint64:
      out += std::to_string(value.get_uint64());
      break;
    case bj::kind::double_:
      out += float_repr(value.get_double());
      break;
    default:
      append_string(out, std::string_view(value.get_string()), escape_non_ascii);
      break;
  }
}

void append_pretty(std::string& out, const bj::value& value, const WriteOptions& options, int depth) {
  const auto new_line = [&](int at) {
    out += '\n';
    out.append(static_cast<std::size_t>(at) * static_cast<std::size_t>(options.indent), ' ');
  };
  if (const auto* array = value.if_array(); array && !array->empty()) {
    char separator = '[';
    for (const bj::value& item : *array) {
      out += separator;
      separator = ',';
      new_line(depth + 1);
      append_pretty(out, item, options, depth + 1);
    }
    new_line(depth);
    out += ']';
  } else if (const auto* object = value.if_object(); object && !object->empty()) {
    char separator = '{';
    for (const auto& [key, item] : *object) {
      out += separator;
      separator = ',';
      new_line(depth + 1);
      append_string(out, std::string_view(key), options.escape_non_ascii);
      out += ": ";
      append_pretty(out, item, options, depth + 1);
    }
    new_line(depth);
    out += '}';
  } else if (value.is_array()) {
    out += "[]";
  } else if (value.is_object()) {
    out += "{}";
  } else {
    append_scalar(out, value, options.escape_non_ascii);
  }
}

void append_compact(std::string& out, const bj::value& value) {
  if (const auto* array = value.if_array()) {
    out += '[';
    for (const bj::value& item : *array) {
      if (out.back() != '[') out += ',';
      append_compact(out, item);
    }
    out += ']';
  } else if (const auto* object = value.if_object()) {
    out += '{';
    bool first = true;
    for (const auto& [key, item] : *object) {
      if (!first) out += ',';
      first = false;
      append_string(out, std::string_view(key), false);
      out += ':';
      append_compact(out, item);
    }
    out += '}';
  } else if (value.is_double() && !std::isfinite(value.get_double())) {
    out += "null";
  } else {
    append_scalar(out, value, false);
  }
}

}  // namespace

std::string write(const bj::value& value, const WriteOptions& options) {
  std::string out;
  append_pretty(out, value, options, 0);
  return out;
}

std::string write_line(const bj::value& value) {
  std::string out;
  append_compact(out, value);
  return out;
}

std::string float_repr(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  // Python: the shortest digits that read back the same; an exponent outside -4 <= e < 16, at least two digits long.
  std::array<char, 40> buffer{};
  const auto scientific =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(scientific.ptr - buffer.data()));
  const int exponent = std::stoi(std::string(text.substr(text.find('e') + 1)));
  if (value != 0 && (exponent < -4 || exponent >= 16)) return std::string(text);
  std::array<char, 400> fixed{};
  const auto end = std::to_chars(fixed.data(), fixed.data() + fixed.size(), value, std::chars_format::fixed);
  std::string out(fixed.data(), end.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace lerobot::json
