#pragma once

#include <filesystem>
#include <string>

namespace lerobot::accel {

/// SHA-256 (FIPS 180-4) of a whole file as 64 lower-case hex digits. Throws Error(kDevice) when it cannot be read.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace lerobot::accel
