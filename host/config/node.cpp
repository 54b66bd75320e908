#include "host/config/node.h"

#include <algorithm>

#include "host/base/format.h"
#include "host/base/json.h"
#include "host/config/scalar_text.h"

namespace lerobot::config {
namespace {

template <class Map>
auto entry_of(Map& map, std::string_view key) {
  return std::find_if(map.begin(), map.end(), [&](const Entry& entry) { return entry.key == key; });
}

boost::json::value plain_to_json(const std::string& text) {
  if (is_null_text(text)) return nullptr;
  if (const auto boolean = parse_bool(text)) return *boolean;
  if (const auto integer = parse_int(text)) return *integer;
  if (const auto number = parse_float(text)) return *number;
  return boost::json::string(text);
}

}  // namespace

bool Node::is_null() const {
  const auto* plain = std::get_if<Plain>(&value);
  return std::holds_alternative<std::nullptr_t>(value) || (plain && is_null_text(plain->text));
}

const Node* Node::find(std::string_view path) const {
  const Node* node = this;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const Map* members = node->map();
    if (!members) return nullptr;
    const auto at = entry_of(*members, path.substr(0, dot));
    if (at == members->end()) return nullptr;
    node = &at->value;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

void Node::put(std::string_view path, Node node) {
  if (!map()) value = Map{};
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  if (dot == std::string_view::npos) {
    erase(key);
    map()->push_back({std::string(key), std::move(node)});
    return;
  }
  auto at = entry_of(*map(), key);
  if (at == map()->end()) at = map()->insert(at, Entry{std::string(key), empty_map(node.origin)});
  at->value.origin = node.origin;
  at->value.put(path.substr(dot + 1), std::move(node));
}

void Node::erase(std::string_view key) {
  if (map()) std::erase_if(*map(), [&](const Entry& entry) { return entry.key == key; });
}

Node empty_map(Node::Origin origin) {
  return {Node::Map{}, origin};
}

Node from_json(const boost::json::value& json, Node::Origin origin) {
  Node out{nullptr, origin};
  switch (json.kind()) {
    case boost::json::kind::null:
      break;
    case boost::json::kind::bool_:
      out.value = json.get_bool();
      break;
    case boost::json::kind::int64:
      out.value = json.get_int64();
      break;
    case boost::json::kind::uint64:
      out.value = static_cast<double>(json.get_uint64());
      break;
    case boost::json::kind::double_:
      out.value = json.get_double();
      break;
    case boost::json::kind::string:
      out.value = std::string(json.get_string());
      break;
    case boost::json::kind::array: {
      auto& list = out.value.emplace<Node::List>();
      for (const auto& item : json.get_array()) list.push_back(from_json(item, origin));
      break;
    }
    case boost::json::kind::object: {
      auto& map = out.value.emplace<Node::Map>();
      for (const auto& member : json.get_object()) map.push_back({member.key(), from_json(member.value(), origin)});
      break;
    }
  }
  return out;
}

boost::json::value to_json(const Node& node) {
  if (const auto* boolean = std::get_if<bool>(&node.value)) return *boolean;
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return *integer;
  if (const auto* number = std::get_if<double>(&node.value)) return *number;
  if (const auto* text = std::get_if<std::string>(&node.value)) return boost::json::string(*text);
  if (const auto* plain = std::get_if<Plain>(&node.value)) return plain_to_json(plain->text);
  if (const auto* list = std::get_if<Node::List>(&node.value)) {
    boost::json::array out;
    for (const Node& item : *list) out.push_back(to_json(item));
    return out;
  }
  if (const auto* map = node.map()) {
    boost::json::object out;
    for (const Entry& entry : *map) out[entry.key] = to_json(entry.value);
    return out;
  }
  return nullptr;
}

void merge(Node& base, const Node& over) {
  if (!base.map() || !over.map()) {
    base = over;
    return;
  }
  base.origin = over.origin;
  for (const Entry& entry : *over.map()) {
    const auto at = entry_of(*base.map(), entry.key);
    if (at == base.map()->end()) {
      base.map()->push_back(entry);
    } else {
      merge(at->value, entry.value);
    }
  }
}

std::string describe(const Node& node) {
  if (const auto* plain = std::get_if<Plain>(&node.value)) return plain->text.empty() ? "an empty text" : plain->text;
  if (std::holds_alternative<Node::List>(node.value)) return "a list";
  if (node.map()) return "a mapping";
  if (std::holds_alternative<std::string>(node.value)) return format("{} (text)", json::write_line(to_json(node)));
  if (const auto* number = std::get_if<double>(&node.value)) return json::float_repr(*number);
  return json::write_line(to_json(node));
}

std::string join_path(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : format("{}.{}", parent, name);
}

}  // namespace lerobot::config
