#include "selector.h"

#include <algorithm>

#include "sdk/text.h"

namespace lerobot::plugins::xpu {
namespace {

bool device_term_takes(const std::string& term, std::size_t index) {
  const std::string root = term.substr(0, term.find('.'));  // "1.0" is a part of GPU 1
  return root == "*" || root == "gpu" || root == std::to_string(index);
}

/// One "backend:device,device" of ONEAPI_DEVICE_SELECTOR, in lower case.
bool filter_takes(const std::string& filter, std::size_t index) {
  const std::string backend = filter.substr(0, filter.find(':'));
  if (backend != "*" && backend != "level_zero") return false;
  const std::string devices = backend.size() < filter.size() ? filter.substr(backend.size() + 1) : "*";
  const std::vector<std::string> terms = sdk::split(devices, ',');
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return device_term_takes(term, index); });
}

}  // namespace

bool selects(const std::string& selector, std::size_t index) {
  bool accepts = false, accepted = false, discarded = false;
  for (const std::string& filter : sdk::split(sdk::lower_case(selector), ';')) {
    if (filter.front() == '!') {
      discarded = discarded || filter_takes(filter.substr(1), index);
    } else {
      accepts = true;
      accepted = accepted || filter_takes(filter, index);
    }
  }
  return (accepted || !accepts) && !discarded;
}

}  // namespace lerobot::plugins::xpu
