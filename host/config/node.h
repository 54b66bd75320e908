#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lerobot::config {

struct Entry;

/// Text of the command line whose meaning depends on the setting it is given to: `no` is a word for one and false for
/// another.
struct Plain {
  std::string text;
};

/// A value before its type is known, and where it comes from. Mappings keep the order of their keys.
struct Node {
  enum class Origin { kFile, kTyped };
  using List = std::vector<Node>;
  using Map = std::vector<Entry>;

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Plain, List, Map> value;
  Origin origin = Origin::kFile;

  bool is_typed() const { return origin == Origin::kTyped; }
  /// null, or one of the words that YAML reads as null.
  bool is_null() const;
  const Map* map() const { return std::get_if<Map>(&value); }
  Map* map() { return std::get_if<Map>(&value); }

  /// The value of a dotted path ("policy.device"), or null when it is not there.
  const Node* find(std::string_view path) const;
  /// Puts `node` at a dotted path. What is on the way and not a mapping is replaced by one; an older value moves to the
  /// end, so that the last one typed is the last one read.
  void put(std::string_view path, Node node);
  /// Removes a key of this mapping.
  void erase(std::string_view key);
};

struct Entry {
  std::string key;
  Node value;
};

Node empty_map(Node::Origin origin);
Node from_json(const boost::json::value& json, Node::Origin origin = Node::Origin::kFile);
/// JSON of a value nobody knows the type of (the keyword arguments of an image transform): plain text becomes a null,
/// boolean, number or string, whichever it reads as.
boost::json::value to_json(const Node& node);

/// `over` laid over `base`: mappings key by key, everything else replaced.
void merge(Node& base, const Node& over);

/// What a message calls a value: `8`, `"8" (text)`, `null`, `a list`.
std::string describe(const Node& node);

/// "a" and "b" give "a.b"; "" and "b" give "b".
std::string join_path(std::string_view parent, std::string_view name);

}  // namespace lerobot::config
