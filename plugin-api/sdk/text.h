// Texts as drivers, the kernel and the environment give them out.
#pragma once

#include <string>
#include <vector>

namespace lerobot::sdk {

/// "sm_75, sm_80".
std::string join(const std::vector<std::string>& texts);

/// The parts between separators, without the empty ones: "a;;b" -> a, b.
std::vector<std::string> split(const std::string& text, char separator);

/// In lower case, of the letters A to Z.
std::string lower_case(std::string text);

}  // namespace lerobot::sdk
