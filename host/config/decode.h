#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/error.h"
#include "host/config/encode.h"
#include "host/config/field.h"
#include "host/config/node.h"
#include "host/config/scalar_text.h"
#include "host/config/type_text.h"

namespace lerobot::config {

/// How strictly a file is taken. What is typed on the command line is always strict.
enum class Strictness {
  kStrict,   ///< a file that a user wrote: unknown keys and unsupported values are errors
  kLenient,  ///< a file that a program stored: both give one warning, and defaults
};

/// Turns nodes into the typed tree, driven by the table. Types are exact: a float or a text is no integer, null is only
/// for what may be null. Errors name the flag (kUsage) or the file and its key (kConfig).
class Decoder {
 public:
  Decoder(std::string file, Strictness strictness) : file_(std::move(file)), strictness_(strictness) {}

  template <class T>
  void read(const Node& node, const std::string& path, T& out);
  template <Described T>
  void read(const Node& node, const std::string& path, T& out);
  template <class T>
  void read(const Node& node, const std::string& path, std::optional<T>& out);
  template <class T>
  void read(const Node& node, const std::string& path, std::vector<T>& out);
  template <class T, std::size_t n>
  void read(const Node& node, const std::string& path, std::array<T, n>& out);
  template <class T>
  void read(const Node& node, const std::string& path, OrderedMap<T>& out);
  template <class... T>
  void read(const Node& node, const std::string& path, std::variant<T...>& out);

  /// Reports what a lenient file has that was left out: one warning for unknown keys, one for unsupported values.
  void warn_about_rest() const;

  /// Throws: `--path: message` for a typed value, `file: path: message` for one of the file.
  [[noreturn]] void refuse(const Node& node, std::string_view path, const std::string& message) const;

 private:
  using Names = std::vector<std::string>;

  bool read_scalar(const Node& node, bool& out) const;
  bool read_scalar(const Node& node, std::int64_t& out) const;
  bool read_scalar(const Node& node, IntDefaultFalse& out) const;
  bool read_scalar(const Node& node, double& out) const;
  bool read_scalar(const Node& node, std::string& out) const;
  bool read_scalar(const Node& node, FeatureType& out) const;
  bool read_scalar(const Node& node, NormalizationMode& out) const;
  bool read_scalar(const Node& node, bj::object& out) const;

  template <class Owner, class Member, class T>
  void read_field(const Field<Owner, Member>& field, const Node& node, const std::string& path, T& out);
  template <class T>
  void read_field(const AbsentField& field, const Node& node, const std::string& path, T& out);
  template <Described T>
  void read_fields(const Node& node, const std::string& path, T& out);

  [[noreturn]] void wrong_type(const Node& node, std::string_view path, const std::string& needed) const;
  /// The list or mapping that this is; text of the command line is read as one.
  Node container(const Node& node, std::string_view path) const;
  void check_words(const Node& node, const std::string& path, std::string_view words, std::string& value) const;
  /// True when the value stays; false when a lenient file's value is to be replaced by the default.
  bool supported(const Node& node, const std::string& path, bool is_supported, std::string_view help);
  void unknown_key(const Node& node, const std::string& path, const Names& known);
  struct Types {
    Names known;
    Names offered;
    Names later;
  };
  std::string type_of(const Node& node, const std::string& path, std::string_view default_type,
                      const Types& types) const;

  std::string file_;
  Strictness strictness_;
  Names unknown_;
  Names unsupported_;
};

/// Whether `word` is one of "a|b|c".
bool has_word(std::string_view words, std::string_view word);

template <class T>
void Decoder::read(const Node& node, const std::string& path, T& out) {
  if (node.is_null() || !read_scalar(node, out)) wrong_type(node, path, TypeText<T>::one());
}

template <Described T>
void Decoder::read(const Node& node, const std::string& path, T& out) {
  const Node map = container(node, path);
  if (!map.map()) wrong_type(node, path, "a mapping");
  read_fields(map, path, out);
}

template <class T>
void Decoder::read(const Node& node, const std::string& path, std::optional<T>& out) {
  if (node.is_null()) {
    out.reset();
    return;
  }
  if constexpr (requires { read_scalar(node, *out); }) {
    if (!read_scalar(node, out.emplace())) wrong_type(node, path, TypeText<std::optional<T>>::one());
  } else {
    read(node, path, out.emplace());
  }
}

template <class T>
void Decoder::read(const Node& node, const std::string& path, std::vector<T>& out) {
  const Node list = container(node, path);
  const auto* items = std::get_if<Node::List>(&list.value);
  if (!items) wrong_type(node, path, TypeText<std::vector<T>>::one());
  out.clear();
  for (std::size_t i = 0; i < items->size(); ++i)
    read((*items)[i], join_path(path, std::to_string(i)), out.emplace_back());
}

template <class T, std::size_t n>
void Decoder::read(const Node& node, const std::string& path, std::array<T, n>& out) {
  std::vector<T> values;
  read(node, path, values);
  if (values.size() != n) wrong_type(node, path, TypeText<std::array<T, n>>::one());
  std::copy(values.begin(), values.end(), out.begin());
}

template <class T>
void Decoder::read(const Node& node, const std::string& path, OrderedMap<T>& out) {
  const Node map = container(node, path);
  out.clear();
  if (map.is_null() && std::is_same_v<T, PolicyFeature>) return;
  if (!map.map()) wrong_type(node, path, "a mapping");
  for (const Entry& entry : *map.map()) read(entry.value, join_path(path, entry.key), out[entry.key]);
}

template <class... T>
void Decoder::read(const Node& node, const std::string& path, std::variant<T...>& out) {
  using Variant = std::variant<T...>;
  const Node map = container(node, path);
  if (!map.map()) wrong_type(node, path, "a mapping with a type");
  const Types types{{std::string(T::kType)...},
                    offered_types(static_cast<const Variant*>(nullptr)),
                    {Choice<Variant>::later.begin(), Choice<Variant>::later.end()}};
  const std::string type = type_of(map, path, Choice<Variant>::default_type, types);
  const auto read_as = [&](auto alternative) {
    if (type != alternative.kType) return;
    read_fields(map, path, alternative);
    out = std::move(alternative);
  };
  (read_as(T{}), ...);
}

template <Described T>
void Decoder::read_fields(const Node& node, const std::string& path, T& out) {
  Names known;
  if constexpr (requires { T::kType; }) known.push_back("type");
  for_each_field<T>([&](const auto& field) {
    known.emplace_back(field.name);
    const Node* value = nullptr;
    for (const Entry& entry : *node.map()) {
      if (entry.key == field.name) value = &entry.value;
    }
    if (value) {
      read_field(field, *value, join_path(path, field.name), out);
    } else if constexpr (requires { field.required; }) {
      if (field.required) refuse(node, join_path(path, field.name), "is missing. Give it a value.");
    }
  });
  for (const Entry& entry : *node.map()) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      unknown_key(entry.value, join_path(path, entry.key), known);
    }
  }
}

template <class Owner, class Member, class T>
void Decoder::read_field(const Field<Owner, Member>& field, const Node& node, const std::string& path, T& out) {
  Member& value = out.*field.member;
  read(node, path, value);
  std::string word;
  if constexpr (std::is_same_v<Member, std::string>) {
    check_words(node, path, field.words, value);
    word = value;
  } else if constexpr (std::is_same_v<Member, std::optional<std::string>>) {
    if (value) check_words(node, path, field.words, *value);
    word = value.value_or("");
  } else if constexpr (std::is_same_v<Member, bool>) {
    word = value ? "true" : "false";
  }
  const T defaults{};
  bool fine = !has_word(field.later, word);
  if (field.support == Support::kDefaultOnly) {
    fine = encode(value) == encode(defaults.*field.member) || (!field.off.empty() && word == field.off);
  }
  if (!supported(node, path, fine, field.help)) value = defaults.*field.member;
}

template <class T>
void Decoder::read_field(const AbsentField& field, const Node& node, const std::string& path, T&) {
  supported(node, path, node.is_null(), field.help);
}

}  // namespace lerobot::config
