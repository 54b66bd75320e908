#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plugin-api/include/lerobot_accel.h"

namespace lerobot::accel {

/// The majors of the contract that this host speaks, both ends included.
constexpr std::uint32_t kAbiMajorMin = LRA_VERSION_MAJOR;
constexpr std::uint32_t kAbiMajorMax = LRA_VERSION_MAJOR;

/// Text that came from a plugin: control characters become spaces and invalid UTF-8 question marks, so that it can
/// stand in a log line or in JSON.
std::string printable(std::string_view text);

/// The text of a fixed array, up to its end even when the plugin forgot the terminator.
template <std::size_t N>
std::string bounded_text(const char (&array)[N]) {
  const std::string_view whole(array, N);
  return printable(whole.substr(0, whole.find('\0')));
}

/// Throws Error when `status` is not LRA_OK, with the plugin's message and hint: kMemory for LRA_OUT_OF_MEMORY, else
/// kDevice. `function` names the call.
void check_status(lra_status status, const lra_error& error, std::string_view function);

}  // namespace lerobot::accel
