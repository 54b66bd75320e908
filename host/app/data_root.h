#pragma once

#include <filesystem>
#include <string>

namespace lerobot {

enum class Part { kMeta, kAll };

/// The folder of a dataset: the path itself, or the dataset of that name (org/name) where the trainer looks for it;
/// this part of it is downloaded when it is not on this machine. Throws Error(kData) that names what was tried.
std::filesystem::path find_dataset(const std::string& path_or_name, Part part);

}  // namespace lerobot
