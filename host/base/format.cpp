#include "host/base/format.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <stdexcept>

namespace lerobot {

std::string vformat(std::string_view pattern, std::initializer_list<FormatArg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const FormatArg& arg : args) {
    std::visit([&](const auto& value) { store.push_back(value); }, arg);
  }
  try {
    return fmt::vformat(pattern, store);
  } catch (const fmt::format_error& error) {
    throw std::logic_error("format \"" + std::string(pattern) + "\": " + error.what());
  }
}

}  // namespace lerobot
