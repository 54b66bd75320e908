#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace lerobot {

/// One argument of format(). Keeps fmt's headers out of ours: libtorch ships another fmt under the same include path.
using FormatArg = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view>;

/// fmt's grammar ("{}", "{:.3f}", "{0}"). Throws std::logic_error when the pattern does not fit its arguments.
std::string vformat(std::string_view pattern, std::initializer_list<FormatArg> args);

template <class T>
FormatArg to_format_arg(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return std::string_view(value);
  }
}

template <class... Args>
std::string format(std::string_view pattern, const Args&... args) {
  return vformat(pattern, {to_format_arg(args)...});
}

}  // namespace lerobot
