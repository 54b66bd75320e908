#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot::hub {

/// The numbers of "v3.0" or "3.0.1", zeros at the end left out; nothing for any other text.
std::optional<std::vector<int>> parse_version(std::string_view text);

/// The branch or tag to use when `wanted` ("v3.0") is asked for: that version, else the highest one below it with the
/// same major number, else v2.1 when v3.0 is wanted, because this program reads both. Nothing when there is none.
std::optional<std::string> find_version(const std::vector<std::string>& names, const std::string& wanted);

/// The same; tells when it is another version. Throws Error(kData) that names `flag` and what there is.
std::string choose_version(const std::vector<std::string>& names, const std::string& wanted, const std::string& flag);

}  // namespace lerobot::hub
