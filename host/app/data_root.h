#pragma once

#include <filesystem>
#include <string>

namespace lerobot {

/// The folder of a dataset: the path itself, or where the trainer looks for the dataset of that name (org/name) on this
/// machine. Throws Error(kData) that names both places when neither is there.
std::filesystem::path find_dataset(const std::string& path_or_name);

}  // namespace lerobot
