#include <algorithm>

#include "host/base/error.h"
#include "host/config/scalar_text.h"

namespace lerobot::config {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::string_view kSpace = " \t\r\n";

/// Recursive descent over JSON and YAML's flow style.
class FlowReader {
 public:
  FlowReader(std::string_view text, std::string_view flag) : text_(text), flag_(flag) {}

  Node read() {
    Node out = value(0);
    skip_space();
    if (at_ < text_.size()) wrong("text after the end of the value");
    return out;
  }

 private:
  [[noreturn]] void wrong(std::string_view what) const {
    fail(ErrorKind::kUsage, "--{}: column {} of `{}`: {}. Write JSON, or YAML such as {{a: 1, b: [2, 3]}}.", flag_,
         at_ + 1, text_, what);
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_space();
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  Node value(int depth) {
    if (depth > kMaxDepth) wrong("nested too deeply");
    skip_space();
    if (take('{')) return map(depth);
    if (take('[')) return list(depth);
    if (peek() == '"' || peek() == '\'') return typed(quoted());
    return typed(Plain{plain(false)});
  }

  Node map(int depth) {
    Node out = empty_map(Node::Origin::kTyped);
    while (!take('}')) {
      std::string name = key();
      if (out.find(name) && name.find('.') == std::string::npos) wrong("the key \"" + name + "\" stands twice");
      out.map()->push_back({std::move(name), value(depth + 1)});
      if (!take(',') && (skip_space(), peek()) != '}') wrong("needed , or }");
    }
    return out;
  }

  Node list(int depth) {
    Node::List out;
    while (!take(']')) {
      out.push_back(value(depth + 1));
      if (!take(',') && (skip_space(), peek()) != ']') wrong("needed , or ]");
    }
    return typed(std::move(out));
  }

  std::string key() {
    skip_space();
    std::string out = peek() == '"' || peek() == '\'' ? quoted() : plain(true);
    if (!take(':')) wrong("needed `key: value`, with a space after the colon");
    return out;
  }

  /// Text without quotes, up to what ends it in flow style.
  std::string plain(bool is_key) {
    constexpr std::string_view kReserved = "&*!|>%@`#";
    if (kReserved.find(peek()) != std::string_view::npos) wrong("YAML's tags, anchors and comments are not supported");
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",[]{}").find(text_[at_]) == std::string_view::npos) {
      const bool colon = text_[at_] == ':' && (at_ + 1 == text_.size() || kSpace.find(text_[at_ + 1]) != kSpace.npos);
      if (colon && is_key) break;
      if (colon) wrong("a mapping needs braces");
      ++at_;
    }
    const std::string_view found = text_.substr(begin, at_ - begin);
    const std::size_t last = found.find_last_not_of(kSpace);
    if (last == std::string_view::npos) wrong("a value is missing");
    return std::string(found.substr(0, last + 1));
  }

  std::string quoted() {
    const char quote = peek();
    const std::size_t begin = at_++;
    for (; at_ < text_.size(); ++at_) {
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote && quote == '\'' && text_.substr(at_ + 1).starts_with('\'')) {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return parse_string(text_.substr(begin, at_ - begin));
      }
    }
    at_ = begin;
    wrong("the quote has no end");
  }

  template <class T>
  static Node typed(T value) {
    return {std::move(value), Node::Origin::kTyped};
  }

  std::string_view text_;
  std::string_view flag_;
  std::size_t at_ = 0;
};

}  // namespace

Node parse_flow(std::string_view text, std::string_view flag) {
  return FlowReader(text, flag).read();
}

}  // namespace lerobot::config
