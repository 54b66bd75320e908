#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "host/base/format.h"
#include "host/config/train_config.h"

namespace lerobot::config {

/// What a message and the help call the values of a type: "an integer", "a list of integers, or null".
template <class T>
struct TypeText {
  static std::string one() {
    if constexpr (std::is_same_v<T, bool>) return "true or false";
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, IntDefaultFalse>) return "an integer";
    if constexpr (std::is_floating_point_v<T>) return "a number";
    if constexpr (std::is_same_v<T, std::string>) return "a text";
    return "a mapping";
  }
  static std::string many() {
    if constexpr (std::is_same_v<T, bool>) return "booleans";
    if constexpr (std::is_integral_v<T>) return "integers";
    if constexpr (std::is_floating_point_v<T>) return "numbers";
    if constexpr (std::is_same_v<T, std::string>) return "texts";
    return "mappings";
  }
  /// The short name that the help shows.
  static std::string brief() {
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, IntDefaultFalse>) return "int";
    if constexpr (std::is_floating_point_v<T>) return "float";
    if constexpr (std::is_same_v<T, std::string>) return "str";
    return "mapping";
  }
};

template <class T>
struct TypeText<std::optional<T>> {
  static std::string one() { return TypeText<T>::one() + " or null"; }
  static std::string brief() { return TypeText<T>::brief() + "|null"; }
};

template <class T>
struct TypeText<std::vector<T>> {
  static std::string one() { return "a list of " + TypeText<T>::many(); }
  static std::string brief() { return format("[{}]", TypeText<T>::brief()); }
};

template <class T, std::size_t n>
struct TypeText<std::array<T, n>> {
  static std::string one() { return format("a list of {} {}", n, TypeText<T>::many()); }
  static std::string brief() { return format("[{} x {}]", n, TypeText<T>::brief()); }
};

template <>
struct TypeText<FeatureType> {
  static std::string one() { return "STATE, VISUAL, ENV, ACTION, REWARD or LANGUAGE"; }
};
template <>
struct TypeText<NormalizationMode> {
  static std::string one() { return "MIN_MAX, MEAN_STD, IDENTITY, QUANTILES or QUANTILE10"; }
};

}  // namespace lerobot::config
