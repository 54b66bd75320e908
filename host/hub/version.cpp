#include "host/hub/version.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace lerobot::hub {
namespace {

using Numbers = std::vector<int>;

const Numbers kOlderFormat{2, 1};  // the one below v3.0 that the dataset reader knows

int part(const Numbers& version, std::size_t index) {
  return index < version.size() ? version[index] : 0;
}

bool is_below(const Numbers& version, const Numbers& wanted) {
  return part(version, 0) == part(wanted, 0) && part(version, 1) <= part(wanted, 1);
}

}  // namespace

std::optional<Numbers> parse_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Numbers numbers;
  while (true) {
    int number = 0;
    if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text[0] != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  while (numbers.size() > 1 && numbers.back() == 0) numbers.pop_back();
  return numbers;
}

std::optional<std::string> find_version(const std::vector<std::string>& names, const std::string& wanted) {
  const Numbers target = parse_version(wanted).value();
  std::optional<std::string> best, older;
  Numbers best_version;
  for (const std::string& name : names) {
    const auto version = parse_version(name);
    if (!version) continue;
    if (*version == target) return name;
    if (is_below(*version, target) && (!best || *version > best_version)) best = name, best_version = *version;
    if (*version == kOlderFormat && part(target, 0) == 3) older = name;
  }
  return best ? best : older;
}

std::string choose_version(const std::vector<std::string>& names, const std::string& wanted, const std::string& flag) {
  if (const auto found = find_version(names, wanted)) {
    if (parse_version(*found) != parse_version(wanted)) {
      log::warn("{}: has no version {}; {} is taken", flag, wanted, *found);
    }
    return *found;
  }
  std::vector<std::string> versions;
  std::ranges::copy_if(names, std::back_inserter(versions),
                       [](const std::string& name) { return parse_version(name).has_value(); });
  if (versions.empty()) {
    fail(ErrorKind::kData,
         "{}: has no branch or tag with a version, needed {}. Ask its owner to tag it, or name a branch or commit: "
         "--dataset.revision=main.",
         flag, wanted);
  }
  fail(ErrorKind::kData,
       "{}: has the versions {}, needed {}. Convert an older one with LeRobot's tools; for a newer one this program is "
       "too old. A branch or commit is taken as it is: --dataset.revision=main.",
       flag, join(versions, ", "), wanted);
}

}  // namespace lerobot::hub
