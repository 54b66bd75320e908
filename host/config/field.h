#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace lerobot::config {

/// What this program does with a setting of LeRobot (docs/flags.md).
enum class Support {
  kEffective,    ///< does what it does in LeRobot
  kNoOp,         ///< any valid value, without effect by design
  kDefaultOnly,  ///< accepted at its default or off value, refused otherwise
  kStored,       ///< read and written in files, not a flag
};

/// One setting: the row of the table that flags, files, help and documents are made of.
template <class Owner, class Member>
struct Field {
  std::string_view name;
  Member Owner::*member;
  Support support;
  std::string_view help;
  /// The valid words, as "a|b"; "a=A" also takes A for a. Empty: any.
  std::string_view words = {};
  /// Those of the words that are valid and not supported yet.
  std::string_view later = {};
  /// For kDefaultOnly: a second value that means off.
  std::string_view off = {};
  bool required = false;
  /// Of newer LeRobot releases: written only when it is not the default, since 0.6.2 refuses keys it does not know.
  bool newer = false;

  constexpr Field one_of(std::string_view valid, std::string_view not_yet = {}) const {
    Field out = *this;
    out.words = valid;
    out.later = not_yet;
    return out;
  }
  constexpr Field or_off(std::string_view value) const {
    Field out = *this;
    out.off = value;
    return out;
  }
  constexpr Field needed() const {
    Field out = *this;
    out.required = true;
    return out;
  }
  constexpr Field of_newer_releases() const {
    Field out = *this;
    out.newer = true;
    return out;
  }
};

/// An optional section that this program does not have: always null in files, refused by name.
struct AbsentField {
  std::string_view name;
  std::string_view help;
};

template <class Owner, class Member>
constexpr auto effective(std::string_view name, Member Owner::*member, std::string_view help) {
  return Field<Owner, Member>{name, member, Support::kEffective, help};
}
template <class Owner, class Member>
constexpr auto no_op(std::string_view name, Member Owner::*member, std::string_view help) {
  return Field<Owner, Member>{name, member, Support::kNoOp, help};
}
template <class Owner, class Member>
constexpr auto default_only(std::string_view name, Member Owner::*member, std::string_view help) {
  return Field<Owner, Member>{name, member, Support::kDefaultOnly, help};
}
template <class Owner, class Member>
constexpr auto stored(std::string_view name, Member Owner::*member, std::string_view help) {
  return Field<Owner, Member>{name, member, Support::kStored, help};
}
/// A section with fields of its own.
template <class Owner, class Member>
constexpr auto section(std::string_view name, Member Owner::*member, std::string_view help = {}) {
  return Field<Owner, Member>{name, member, Support::kEffective, help};
}
constexpr AbsentField absent(std::string_view name, std::string_view help) {
  return {name, help};
}

/// The table of one structure: `list`, a tuple of its fields in the order of the file. Specialized in *_fields.h.
template <class T>
struct Fields;

template <class T>
concept Described = requires {
  Fields<T>::list;
};

/// What a choice (a variant whose key "type" picks the alternative) knows besides its alternatives.
template <class Variant>
struct Choice;

/// The alternatives that messages, help and documents offer: a type that can be read but not trained yet is not one.
template <class... T>
std::vector<std::string> offered_types(const std::variant<T...>*) {
  std::vector<std::string> out;
  const auto offer = [&](std::string_view type) {
    if (type != Choice<std::variant<T...>>::only_read) out.emplace_back(type);
  };
  (offer(T::kType), ...);
  return out;
}

/// Calls `visit` with every Field and AbsentField of T.
template <Described T, class Visit>
void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Fields<T>::list);
}

}  // namespace lerobot::config
