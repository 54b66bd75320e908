#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot::data {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Range {
  double low = 0, high = 0;
};

/// Keyword arguments of a transform. Whoever has read what it knows calls finish(), which refuses the rest. Errors are
/// Error(kConfig) that begin with the setting's path.
class Arguments {
 public:
  Arguments(std::string_view path, std::string_view type, const boost::json::object& values)
      : path_(path), type_(type), values_(values) {}

  /// Null, or not there, is nothing. A pair has to ascend and lie within [least, most].
  std::optional<Range> pair(std::string_view name, double least, double most);
  /// As pair(), and a single number v is the range from `one_low(v)` to `one_high(v)`; it may not be negative.
  template <class Low, class High>
  std::optional<Range> range(std::string_view name, double least, double most, const Low& one_low,
                             const High& one_high) {
    const std::optional<double> one = single(name);
    if (!one) return pair(name, least, most);
    return checked(name, {one_low(*one), one_high(*one)}, least, most);
  }
  /// `fallback` when it is not there.
  double number(std::string_view name, double fallback, double least, double most);
  /// Two whole numbers; a single one is both.
  struct Whole {
    std::int64_t low = 0, high = 0;
  };
  Whole whole(std::string_view name, Whole fallback, std::int64_t least, std::int64_t most);
  /// Empty when it is not there.
  std::vector<double> numbers(std::string_view name);
  /// The value when it is one number, which may not be negative; nothing when it is a list or not there.
  std::optional<double> single(std::string_view name);
  bool has(std::string_view name) const;

  /// Throws: found the value of `name`, needed something else.
  [[noreturn]] void refuse(std::string_view name, const std::string& needed) const;
  void finish() const;

 private:
  const boost::json::value* take(std::string_view name);
  Range checked(std::string_view name, Range range, double least, double most) const;

  std::string path_, type_;
  const boost::json::object& values_;
  std::vector<std::string> known_;
};

}  // namespace lerobot::data
