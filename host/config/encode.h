#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "host/config/field.h"
#include "host/config/train_config.h"

namespace lerobot::config {

// Any value of the configuration tree as JSON, keys in the order of the table.

namespace bj = boost::json;

inline bj::value encode(const std::string& value) {
  return bj::string(value);
}
inline bj::value encode(const bj::object& value) {
  return value;
}
inline bj::value encode(FeatureType value) {
  return bj::string(name(value));
}
inline bj::value encode(NormalizationMode value) {
  return bj::string(name(value));
}
/// `false` as long as nobody has set it: Python writes the default as it stands there.
inline bj::value encode(const IntDefaultFalse& value) {
  return value.is_set() ? bj::value(value.get()) : bj::value(false);
}

template <class T>
requires std::is_arithmetic_v<T> bj::value encode(const T& value) {
  return value;
}

template <class T>
bj::value encode(const std::optional<T>& value);
template <class T>
bj::value encode(const std::vector<T>& values);
template <class T, std::size_t n>
bj::value encode(const std::array<T, n>& values);
template <class T>
bj::value encode(const OrderedMap<T>& values);
template <class... T>
bj::value encode(const std::variant<T...>& choice);

template <class Owner, class Member, class T>
void encode_member(const Field<Owner, Member>& field, const T& owner, bj::object& out) {
  bj::value value = encode(owner.*field.member);
  if (field.newer && value == encode(T{}.*field.member)) return;
  out[field.name] = std::move(value);
}
template <class Owner>
void encode_member(const AbsentField& field, const Owner&, bj::object& out) {
  out[field.name] = nullptr;
}

template <Described T>
bj::value encode(const T& owner) {
  bj::object out;
  if constexpr (requires { T::kType; }) out["type"] = T::kType;
  for_each_field<T>([&](const auto& field) { encode_member(field, owner, out); });
  return out;
}

template <class T>
bj::value encode(const std::optional<T>& value) {
  return value ? encode(*value) : bj::value(nullptr);
}
template <class T>
bj::value encode(const std::vector<T>& values) {
  bj::array out;
  for (const T& value : values) out.push_back(encode(value));
  return out;
}
template <class T, std::size_t n>
bj::value encode(const std::array<T, n>& values) {
  return encode(std::vector<T>(values.begin(), values.end()));
}
template <class T>
bj::value encode(const OrderedMap<T>& values) {
  bj::object out;
  for (const auto& [key, value] : values) out[key] = encode(value);
  return out;
}
template <class... T>
bj::value encode(const std::variant<T...>& choice) {
  return std::visit([](const auto& alternative) { return encode(alternative); }, choice);
}

}  // namespace lerobot::config
