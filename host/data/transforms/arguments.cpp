#include "host/data/transforms/arguments.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/text.h"

namespace lerobot::data {
namespace {

namespace bj = boost::json;

std::string text(double value) {
  return std::isinf(value) ? "any" : json::float_repr(value);
}

bool is_finite_number(const bj::value& value) {
  return value.is_number() && std::isfinite(value.to_number<double>());
}

}  // namespace

bool Arguments::has(std::string_view name) const {
  const bj::value* value = values_.if_contains(name);
  return value != nullptr && !value->is_null();
}

const bj::value* Arguments::take(std::string_view name) {
  known_.emplace_back(name);
  return has(name) ? values_.if_contains(name) : nullptr;
}

void Arguments::refuse(std::string_view name, const std::string& needed) const {
  const bj::value* value = values_.if_contains(name);
  fail(ErrorKind::kConfig, "{}.kwargs.{}: found {}, needed {}.", path_, name,
       value == nullptr ? "nothing" : json::write_line(*value), needed);
}

std::optional<double> Arguments::single(std::string_view name) {
  const bj::value* value = take(name);
  if (value == nullptr || !is_finite_number(*value)) return std::nullopt;
  const auto number = value->to_number<double>();
  if (number < 0) refuse(name, "0 or more, or two numbers that ascend");
  return number;
}

Range Arguments::checked(std::string_view name, Range range, double least, double most) const {
  if (!(least <= range.low && range.low <= range.high && range.high <= most)) {
    refuse(name, format("a range that ascends, from {} to {}", text(least), text(most)));
  }
  return range;
}

std::vector<double> Arguments::numbers(std::string_view name) {
  const bj::value* value = take(name);
  if (value == nullptr) return {};
  std::vector<double> out;
  const bool is_list = value->is_array() && std::ranges::all_of(value->get_array(), is_finite_number);
  if (!is_list) refuse(name, "a list of numbers");
  for (const bj::value& entry : value->get_array()) out.push_back(entry.to_number<double>());
  return out;
}

std::optional<Range> Arguments::pair(std::string_view name, double least, double most) {
  if (!has(name)) {
    take(name);
    return std::nullopt;
  }
  const std::vector<double> both = numbers(name);
  if (both.size() != 2) refuse(name, "two numbers that ascend");
  return checked(name, {both[0], both[1]}, least, most);
}

double Arguments::number(std::string_view name, double fallback, double least, double most) {
  const bj::value* value = take(name);
  if (value == nullptr) return fallback;
  const double number = is_finite_number(*value) ? value->to_number<double>() : std::nan("");
  if (!(least <= number && number <= most)) refuse(name, format("a number from {} to {}", text(least), text(most)));
  return number;
}

Arguments::Whole Arguments::whole(std::string_view name, Whole fallback, std::int64_t least, std::int64_t most) {
  const bj::value* value = take(name);
  if (value == nullptr) return fallback;
  Whole out;
  if (value->is_int64()) {
    out = {value->get_int64(), value->get_int64()};
  } else if (value->is_array() && value->get_array().size() == 2 && value->get_array()[0].is_int64() &&
             value->get_array()[1].is_int64()) {
    out = {value->get_array()[0].get_int64(), value->get_array()[1].get_int64()};
  } else {
    refuse(name, "a whole number or two of them");
  }
  if (!(least <= out.low && out.low <= out.high && out.high <= most)) {
    refuse(name, format("whole numbers from {} to {} that ascend", least, most));
  }
  return out;
}

void Arguments::finish() const {
  for (const auto& entry : values_) {
    const std::string name(entry.key());
    if (std::ranges::find(known_, name) != known_.end()) continue;
    const auto near = nearest_name(name, known_);
    fail(ErrorKind::kConfig, "{}.kwargs.{}: {} has no such argument here{}. It has: {}.", path_, name, type_,
         near ? ", did you mean " + *near + "?" : "", known_.empty() ? "none" : join(known_, ", "));
  }
}

}  // namespace lerobot::data
