#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace lerobot::hub {

/// Makes the folders above `path`. Throws Error(kIo) with the cure.
void make_parents(const std::filesystem::path& path);

/// Whether a file of just this many bytes is there.
bool has_size(const std::filesystem::path& path, std::uint64_t bytes);

/// Writes a small file so that other processes see the old content or the new, and none the other's half. Makes its
/// folders. Throws Error(kIo).
void place_text(const std::filesystem::path& path, std::string_view content);

}  // namespace lerobot::hub
