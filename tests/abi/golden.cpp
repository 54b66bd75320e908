#include "tests/abi/golden.h"

#include <map>
#include <sstream>

namespace lerobot::abi {
namespace {

/// A layout's lines: what each is about ("field lra_error.code") and its numbers ("4 4").
std::map<std::string, std::string> read_layout(const std::string& text) {
  std::map<std::string, std::string> layout;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t kind_end = line.find(' ');
    const std::size_t name_end = std::min(line.find(' ', kind_end + 1), line.size());
    layout[line.substr(0, name_end)] = name_end < line.size() ? line.substr(name_end + 1) : "";
  }
  return layout;
}

bool may_change(const std::string& what) {
  return what.rfind("version ", 0) == 0 || what == "constant LRA_VERSION_MINOR";
}

bool may_grow(const std::string& what) {
  return what.rfind("struct ", 0) == 0;
}

}  // namespace

std::vector<std::string> broken_promises(const std::string& golden, const std::string& layout) {
  const std::map<std::string, std::string> now = read_layout(layout);
  std::vector<std::string> broken;
  for (const auto& [what, numbers] : read_layout(golden)) {
    if (may_change(what)) continue;
    const auto found = now.find(what);
    if (found == now.end()) {
      broken.push_back(what + " is gone");
    } else if (may_grow(what) ? std::stoull(found->second) < std::stoull(numbers) : found->second != numbers) {
      broken.push_back(what + " was " + numbers + ", is " + found->second);
    }
  }
  return broken;
}

}  // namespace lerobot::abi
