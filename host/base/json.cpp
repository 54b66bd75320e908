#include "host/base/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <vector>

#include "host/base/file.h"

namespace lerobot::json {
namespace {

constexpr std::size_t kMaxDepth = 128;
constexpr std::size_t kExcerpt = 40;

/// Python's words for what JSON cannot say. Boost.JSON cannot read them either: before parsing each is replaced by a
/// string that no file holds, and the handler turns that string into the number.
struct Word {
  std::string_view text;
  std::string_view stand_in;
  double value;
};
constexpr Word kWords[] = {{"-Infinity", "\"\\u0000-inf\"", -std::numeric_limits<double>::infinity()},
                           {"Infinity", "\"\\u0000inf\"", std::numeric_limits<double>::infinity()},
                           {"NaN", "\"\\u0000nan\"", std::numeric_limits<double>::quiet_NaN()}};

std::optional<double> word_value(std::string_view string) {
  using namespace std::string_view_literals;
  if (string == "\0-inf"sv) return kWords[0].value;
  if (string == "\0inf"sv) return kWords[1].value;
  if (string == "\0nan"sv) return kWords[2].value;
  return std::nullopt;
}

/// The text with the words replaced, and for each replacement where it stands and how much longer it is.
struct Replaced {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> grown;

  std::size_t original_offset(std::size_t offset) const {
    std::size_t by = 0;
    for (const auto& [at, more] : grown) {
      if (at < offset) by += more;
    }
    return offset - std::min(by, offset);
  }
};

Replaced replace_words(std::string_view text) {
  Replaced out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out.text.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    const Word* word = nullptr;
    if (!in_string) {
      for (const Word& candidate : kWords) {
        if (text.substr(i, candidate.text.size()) == candidate.text) {
          word = &candidate;
          break;
        }
      }
    }
    if (word) {
      out.text += word->stand_in;
      out.grown.emplace_back(out.text.size() - 1, word->stand_in.size() - word->text.size());
      i += word->text.size();
    } else {
      out.text += c;
      ++i;
    }
  }
  return out;
}

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

Position position_of(std::string_view text, std::size_t offset) {
  Position at;
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else {
      ++at.column;
    }
  }
  return at;
}

std::string excerpt(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  std::size_t begin = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  begin = begin == std::string_view::npos || begin >= offset ? 0 : begin + 1;
  if (offset - begin > kExcerpt / 2) begin = offset - kExcerpt / 2;
  std::size_t end = std::min(text.find('\n', offset), text.size());
  end = std::min(end, begin + kExcerpt);
  std::string out(text.substr(begin, end - begin));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

/// Builds the value like boost::json::parser does, and refuses a key that stands twice in one object.
struct Handler {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1) / 2;
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1) / 2;
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1) / 2;
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1) / 2;
  using error_code = boost::system::error_code;
  using string_view = bj::string_view;

  bj::value_stack stack;
  std::string part;
  std::vector<std::vector<std::string>> keys;
  std::string duplicate;

  bool on_document_begin(error_code&) {
    stack.reset();
    return true;
  }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    keys.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t n, error_code& ec) {
    auto& names = keys.back();
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
      duplicate = *twice;
      ec = bj::error::extra_data;
      return false;
    }
    keys.pop_back();
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t n, error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(string_view s, std::size_t, error_code&) {
    part.append(s.data(), s.size());
    return true;
  }
  bool on_key(string_view s, std::size_t, error_code&) {
    part.append(s.data(), s.size());
    stack.push_key(part);
    keys.back().push_back(std::move(part));
    part.clear();
    return true;
  }
  bool on_string_part(string_view s, std::size_t, error_code&) {
    part.append(s.data(), s.size());
    return true;
  }
  bool on_string(string_view s, std::size_t, error_code&) {
    part.append(s.data(), s.size());
    if (const auto number = word_value(part)) {
      stack.push_double(*number);
    } else {
      stack.push_string(part);
    }
    part.clear();
    return true;
  }
  bool on_number_part(string_view s, error_code&) {
    part.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t v, string_view, error_code&) {
    part.clear();
    stack.push_int64(v);
    return true;
  }
  bool on_uint64(std::uint64_t v, string_view, error_code&) {
    part.clear();
    stack.push_uint64(v);
    return true;
  }
  // Boost's own conversion is off by a bit or two for a third of all doubles.
  bool on_double(double v, string_view s, error_code&) {
    part.append(s.data(), s.size());
    double nearest = v;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), nearest);
    stack.push_double(read.ec == std::errc() ? nearest : v);
    part.clear();
    return true;
  }
  bool on_bool(bool v, error_code&) {
    stack.push_bool(v);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }
};

[[noreturn]] void fail_at(ErrorKind kind, std::string_view name, std::string_view text, std::size_t offset,
                          std::string_view what) {
  const Position at = position_of(text, offset);
  fail(kind, "{}: line {}, column {}: {} (near `{}`)", name, at.line, at.column, what, excerpt(text, offset));
}

std::string_view describe(const boost::system::error_code& ec, std::string& storage) {
  if (ec == bj::error::incomplete) return "the text ends too early";
  if (ec == bj::error::extra_data) return "text after the end of the document";
  if (ec == bj::error::too_deep) return "nested too deeply (limit 128)";
  if (ec == bj::error::syntax) {
    return "not valid JSON here (a misspelt literal, a single quote, a trailing comma, or NaN/Infinity?)";
  }
  return storage = ec.message();
}

}  // namespace

bj::value parse(std::string_view text, std::string_view name, ErrorKind kind, NonFinite non_finite) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());

  Replaced replaced;
  if (non_finite == NonFinite::kAccept) {
    replaced = replace_words(text);
  } else {
    replaced.text = text;
  }
  bj::parse_options options;
  options.max_depth = kMaxDepth;
  bj::basic_parser<Handler> parser(options);
  boost::system::error_code ec;
  const std::size_t consumed = parser.write_some(false, replaced.text.data(), replaced.text.size(), ec);
  if (!ec && consumed < replaced.text.size()) {
    const std::size_t rest = replaced.text.find_first_not_of(" \t\r\n", consumed);
    if (rest != std::string::npos) {
      ec = bj::error::extra_data;
      fail_at(kind, name, text, replaced.original_offset(rest), "text after the end of the document");
    }
  }
  if (!ec) return parser.handler().stack.release();

  const std::size_t offset = replaced.original_offset(consumed);
  std::string storage;
  if (!parser.handler().duplicate.empty()) {
    fail_at(kind, name, text, offset, format("the key \"{}\" stands twice in one object", parser.handler().duplicate));
  }
  fail_at(kind, name, text, offset, describe(ec, storage));
}

bj::value read_file(const std::filesystem::path& path, ErrorKind kind, NonFinite non_finite) {
  return parse(read_text(path, kind), path.string(), kind, non_finite);
}

}  // namespace lerobot::json
