#include "host/precision/scaler_state.h"

#include <boost/json/object.hpp>
#include <string>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/config/grad_scaler_rules.h"

namespace lerobot::precision {
namespace {

namespace bj = boost::json;

/// One object whose every key must be asked for.
class Reader {
 public:
  Reader(const bj::value& json, std::string_view source) : source_(source) {
    if (!json.is_object()) refuse("", "found " + json::write_line(json) + ", needed an object");
    object_ = &json.get_object();
  }

  /// A float: Python writes one with a point or an exponent, and takes no other.
  double number(std::string_view key, bool (*is_sane)(double), std::string_view needed) const {
    const bj::value& value = at(key);
    if (!value.is_double() || !is_sane(value.get_double())) refuse_value(key, value, needed);
    return value.get_double();
  }
  std::int64_t whole(std::string_view key, std::int64_t low, std::int64_t high) const {
    const bj::value& value = at(key);
    if (!value.is_int64() || value.get_int64() < low || value.get_int64() > high) {
      refuse_value(key, value, format("a whole number from {} to {}", low, high));
    }
    return value.get_int64();
  }
  void refuse_other_keys(std::size_t known) const {
    if (object_->size() != known) {
      refuse("", format("found {} keys, needed the {} of torch's GradScaler", object_->size(), known));
    }
  }

 private:
  const bj::value& at(std::string_view key) const {
    const bj::value* value = object_->if_contains(key);
    if (value == nullptr) refuse(key, "is missing");
    return *value;
  }
  [[noreturn]] void refuse_value(std::string_view key, const bj::value& found, std::string_view needed) const {
    const std::string text = found.is_double() ? json::float_repr(found.get_double()) : json::write_line(found);
    refuse(key, format("found {}, needed {}", text, needed));
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& problem) const {
    fail(ErrorKind::kCheckpoint,
         "{}: {}{}{}. Use another checkpoint, or remove the file: the scale then starts afresh.", source_, key,
         key.empty() ? "" : ": ", problem);
  }

  std::string_view source_;
  const bj::object* object_ = nullptr;
};

}  // namespace

bj::value to_json(const ScalerState& state) {
  return bj::object{{"scale", state.scale},
                    {"growth_factor", state.growth_factor},
                    {"backoff_factor", state.backoff_factor},
                    {"growth_interval", state.growth_interval},
                    {"_growth_tracker", state.growth_tracker}};
}

ScalerState read_scaler_state(const bj::value& json, std::string_view source) {
  const Reader reader(json, source);
  ScalerState state;
  state.scale = reader.number("scale", config::is_loss_scale, "a number above 0 that float32 can hold");
  state.growth_factor = reader.number("growth_factor", config::is_growth_factor, "a finite number above 1");
  state.backoff_factor = reader.number("backoff_factor", config::is_backoff_factor, "a number between 0 and 1");
  state.growth_interval = reader.whole("growth_interval", 1, config::kMaxGrowthInterval);
  state.growth_tracker = reader.whole("_growth_tracker", 0, state.growth_interval - 1);
  reader.refuse_other_keys(5);
  return state;
}

}  // namespace lerobot::precision
