#include "host/optim/strict_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>

#include "host/base/error.h"

namespace lerobot::optim {
namespace {

namespace bj = boost::json;

// Integers are one kind, whatever their sign.
bj::kind kind_of(const bj::value& value) {
  return value.is_uint64() ? bj::kind::int64 : value.kind();
}

std::string_view kind_text(const bj::value& value) {
  return bj::to_string(kind_of(value));
}

void check_objects(const bj::object& stored, const bj::object& own, const std::string& where) {
  for (const auto& [key, value] : stored) {
    if (!own.contains(key)) {
      fail(ErrorKind::kCheckpoint,
           "{}: found the key {}, which this run does not have. Resume with the configuration it was saved with.",
           where, std::string_view(key));
    }
  }
  for (const auto& [key, value] : own) {
    const bj::value* found = stored.if_contains(key);
    if (found == nullptr) {
      fail(ErrorKind::kCheckpoint, "{}: found no key {}, needed one. Resume with the configuration it was saved with.",
           where, std::string_view(key));
    }
    check_same_form(*found, value, where + "." + std::string(key));
  }
}

void check_arrays(const bj::array& stored, const bj::array& own, const std::string& where) {
  if (stored.size() != own.size()) {
    fail(ErrorKind::kCheckpoint, "{}: found {} entries, needed {}. Resume with the configuration it was saved with.",
         where, stored.size(), own.size());
  }
  for (std::size_t i = 0; i < own.size(); ++i) check_same_form(stored[i], own[i], format("{}[{}]", where, i));
}

}  // namespace

void check_same_form(const bj::value& stored, const bj::value& own, const std::string& where) {
  if (kind_of(stored) != kind_of(own)) {
    fail(ErrorKind::kCheckpoint, "{}: found {}, needed {}. Use a checkpoint that LeRobot or this program wrote.", where,
         kind_text(stored), kind_text(own));
  }
  if (own.is_object()) check_objects(stored.get_object(), own.get_object(), where);
  if (own.is_array()) check_arrays(stored.get_array(), own.get_array(), where);
}

}  // namespace lerobot::optim
