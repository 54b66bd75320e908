#pragma once

#include <cstdint>

// Numbers of the zip format that reading and writing share. Source: PKWARE APPNOTE 6.3.
namespace lerobot::checkpoint::zip {

inline constexpr std::uint32_t kLocalHeader = 0x04034b50;
inline constexpr std::uint32_t kCentralHeader = 0x02014b50;
inline constexpr std::uint32_t kEnd = 0x06054b50;
inline constexpr std::uint32_t kEnd64 = 0x06064b50;
inline constexpr std::uint32_t kEnd64Locator = 0x07064b50;
inline constexpr std::uint16_t kZip64Field = 1;
inline constexpr std::uint32_t kInZip64 = 0xFFFFFFFF;  ///< in a field of 32 bits: the number is in the zip64 field

}  // namespace lerobot::checkpoint::zip
