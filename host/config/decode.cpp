#include "host/config/decode.h"

#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::config {
namespace {

/// The words of "a=A|b" with their second spellings.
std::vector<std::pair<std::string, std::string>> split_words(std::string_view words) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!words.empty()) {
    const std::size_t bar = std::min(words.find('|'), words.size());
    const std::string_view word = words.substr(0, bar);
    const std::size_t equals = word.find('=');
    const std::string_view second = equals == word.npos ? std::string_view() : word.substr(equals + 1);
    out.emplace_back(word.substr(0, equals), second);
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return out;
}

std::string last_name(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

}  // namespace

bool has_word(std::string_view words, std::string_view word) {
  for (const auto& [first, second] : split_words(words)) {
    if (first == word) return true;
  }
  return false;
}

bool Decoder::read_scalar(const Node& node, bool& out) const {
  std::optional<bool> value;
  if (const auto* boolean = std::get_if<bool>(&node.value)) value = *boolean;
  if (const auto* plain = std::get_if<Plain>(&node.value)) value = parse_bool(parse_string(plain->text));
  if (value) out = *value;
  return value.has_value();
}

bool Decoder::read_scalar(const Node& node, std::int64_t& out) const {
  std::optional<std::int64_t> value;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) value = *integer;
  if (const auto* plain = std::get_if<Plain>(&node.value)) value = parse_int(plain->text);
  if (value) out = *value;
  return value.has_value();
}

bool Decoder::read_scalar(const Node& node, IntDefaultFalse& out) const {
  std::int64_t integer = 0;
  bool boolean = false;
  if (read_scalar(node, integer)) {
    out = integer;
  } else if (read_scalar(node, boolean)) {
    out = boolean ? 1 : 0;
  } else {
    return false;
  }
  return true;
}

bool Decoder::read_scalar(const Node& node, double& out) const {
  std::optional<double> value;
  if (const auto* number = std::get_if<double>(&node.value)) value = *number;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) value = static_cast<double>(*integer);
  if (const auto* plain = std::get_if<Plain>(&node.value)) value = parse_float(plain->text);
  if (value) out = *value;
  return value.has_value();
}

bool Decoder::read_scalar(const Node& node, std::string& out) const {
  if (const auto* text = std::get_if<std::string>(&node.value)) {
    out = *text;
  } else if (const auto* plain = std::get_if<Plain>(&node.value)) {
    out = parse_string(plain->text);
  } else {
    return false;
  }
  return true;
}

bool Decoder::read_scalar(const Node& node, FeatureType& out) const {
  std::string text;
  const auto type = read_scalar(node, text) ? feature_type_from(text) : std::nullopt;
  if (type) out = *type;
  return type.has_value();
}

bool Decoder::read_scalar(const Node& node, NormalizationMode& out) const {
  std::string text;
  const auto mode = read_scalar(node, text) ? normalization_mode_from(text) : std::nullopt;
  if (mode) out = *mode;
  return mode.has_value();
}

bool Decoder::read_scalar(const Node& node, bj::object& out) const {
  if (!node.map()) return false;
  out = to_json(node).get_object();
  return true;
}

void Decoder::refuse(const Node& node, std::string_view path, const std::string& message) const {
  if (node.is_typed()) fail(ErrorKind::kUsage, "--{}: {}", path, message);
  fail(ErrorKind::kConfig, "{}: {}: {}", file_, path.empty() ? "the whole file" : path, message);
}

void Decoder::wrong_type(const Node& node, std::string_view path, const std::string& needed) const {
  const auto* plain = std::get_if<Plain>(&node.value);
  if (needed.starts_with("an integer") && plain && plain->text.size() > 1 && plain->text.starts_with('0')) {
    refuse(node, path,
           format("found {}, which is octal for YAML and decimal for JSON, needed {}. Leave the leading zeros out.",
                  plain->text, needed));
  }
  refuse(node, path, format("found {}, needed {}.", describe(node), needed));
}

Node Decoder::container(const Node& node, std::string_view path) const {
  const auto* plain = std::get_if<Plain>(&node.value);
  if (!plain || !(plain->text.starts_with('{') || plain->text.starts_with('['))) return node;
  return parse_flow(plain->text, path);
}

void Decoder::check_words(const Node& node, const std::string& path, std::string_view words, std::string& value) const {
  if (words.empty()) return;
  std::vector<std::string> valid;
  for (const auto& [first, second] : split_words(words)) {
    if (value == second) value = first;
    if (value == first) return;
    valid.push_back(first);
  }
  refuse(node, path, format("found {}, needed one of {}.", value.empty() ? "an empty text" : value, join(valid, ", ")));
}

bool Decoder::supported(const Node& node, const std::string& path, bool is_supported, std::string_view help) {
  if (is_supported) return true;
  if (node.is_typed() || strictness_ == Strictness::kStrict) {
    refuse(node, path, format("found {}, which is not supported yet ({}). Leave it out.", describe(node), help));
  }
  unsupported_.push_back(format("{}={}", path, describe(node)));
  return false;
}

void Decoder::unknown_key(const Node& node, const std::string& path, const Names& known) {
  if (!node.is_typed() && strictness_ == Strictness::kLenient) {
    unknown_.push_back(path);
    return;
  }
  const auto nearest = nearest_name(last_name(path), known);
  std::string cure = nearest ? format(" Did you mean {}?", join_path(parent_of(path), *nearest)) : std::string();
  refuse(node, path, "there is no such setting here." + cure);
}

std::string Decoder::type_of(const Node& node, const std::string& path, std::string_view default_type,
                             const Types& types) const {
  const std::string name = join_path(path, "type");
  const std::string offered = join(types.offered, ", ");
  const Node* found = nullptr;
  for (const Entry& entry : *node.map()) {
    if (entry.key == "type") found = &entry.value;
  }
  if (!found) {
    if (!default_type.empty()) return std::string(default_type);
    refuse(node, name, format("is missing, needed one of {}.", offered));
  }
  std::string type;
  if (found->is_null() || !read_scalar(*found, type)) wrong_type(*found, name, "one of " + offered);
  if (std::find(types.known.begin(), types.known.end(), type) != types.known.end()) return type;
  if (std::find(types.later.begin(), types.later.end(), type) != types.later.end()) {
    refuse(*found, name, format("found {}, which is not supported yet, needed one of {}.", type, offered));
  }
  const auto nearest = nearest_name(type, types.offered);
  refuse(*found, name,
         format("found {}, needed one of {}.{}", type.empty() ? "an empty text" : type, offered,
                nearest ? format(" Did you mean {}?", *nearest) : std::string()));
}

void Decoder::warn_about_rest() const {
  if (!unknown_.empty()) {
    log::warn("{}: left out what this program does not know (of another release?): {}", file_, join(unknown_, ", "));
  }
  if (!unsupported_.empty()) {
    log::warn("{}: not supported yet, the defaults are used instead: {}", file_, join(unsupported_, ", "));
  }
}

}  // namespace lerobot::config
