#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lerobot::test {

/// Opens a sound dataset of two episodes in which these bytes stand in place of `file` (relative to its root), and
/// reads each item. Any bytes must give items of the sizes that the layout says, or an Error(kData). Ends the process
/// otherwise.
void open_with(const std::string& file, const std::uint8_t* data, std::size_t size);

}  // namespace lerobot::test
