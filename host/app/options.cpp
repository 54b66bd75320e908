#include "host/app/options.h"

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot {

std::optional<std::string> option_value(std::string_view name, const std::vector<std::string>& all, std::size_t& at,
                                        std::string_view help) {
  const std::string& argument = all[at];
  if (argument.starts_with(std::string(name) + "=")) return argument.substr(name.size() + 1);
  if (argument != name) return std::nullopt;
  if (++at == all.size()) fail(ErrorKind::kUsage, "{}: a value is needed. See {}", name, help);
  return all[at];
}

void unknown_option(const std::string& argument, const std::vector<std::string>& known, std::string_view help) {
  const auto near = nearest_name(argument.substr(0, argument.find('=')), known);
  fail(ErrorKind::kUsage, "{}: unknown option{}. See {}", argument, near ? ", did you mean " + *near + "?" : "", help);
}

}  // namespace lerobot
