#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot::accel {

/// The files mapped into a process, each once, from the text of /proc/<pid>/maps.
std::vector<std::filesystem::path> mapped_files(std::string_view maps);

/// Libraries of torch or of an OpenMP runtime among `mapped` that are neither one of `chosen` nor in `directory`. Files
/// are told apart by device and inode, whatever their path. An OpenMP runtime from elsewhere is accepted when the
/// chosen torch brings none and it is the only one.
std::vector<std::string> foreign_images(const std::vector<std::filesystem::path>& mapped,
                                        const std::vector<std::filesystem::path>& chosen,
                                        const std::filesystem::path& directory);

/// Throws Error(kDevice) when this process maps a foreign one.
void require_one_torch(const std::vector<std::filesystem::path>& chosen, const std::filesystem::path& directory);

}  // namespace lerobot::accel
