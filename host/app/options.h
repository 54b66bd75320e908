#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot {

/// The value of --NAME=VALUE or --NAME VALUE at `at`, which moves past it; nothing when the argument there is another.
/// Throws Error(kUsage) when the value is missing; `help` says where to read on.
std::optional<std::string> option_value(std::string_view name, const std::vector<std::string>& all, std::size_t& at,
                                        std::string_view help = "lerobot-accel --help");

/// Throws Error(kUsage) for an option that is not among `known`, with the nearest one. `help` says where to read on.
[[noreturn]] void unknown_option(const std::string& argument, const std::vector<std::string>& known,
                                 std::string_view help);

}  // namespace lerobot
