#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lerobot::data {

/// What is wrong with a file as far as its size and its first and last bytes tell, or nothing: "missing", "truncated,
/// its end mark is missing (812 bytes)", "a pointer text in place of the data (131 bytes)", ... The kind goes by the
/// extension: .parquet has marks at both ends; others only must be there and hold something.
std::optional<std::string> file_problem(const std::filesystem::path& path);

/// The files below a folder of the dataset at any depth, relative to its root, sorted.
std::vector<std::string> files_below(const std::filesystem::path& root, const char* folder);

/// file_problem of files below `root`, as "data/file.parquet is missing".
std::vector<std::string> file_problems(const std::filesystem::path& root, const std::vector<std::string>& relative);

/// Throws Error(kData) that lists the problems with the cure; does nothing when there are none.
void refuse_file_problems(const std::filesystem::path& root, const std::vector<std::string>& problems);

/// Checks files of meta/. When one is unusable the message lists also what is wrong with the data and video files that
/// lie in the dataset: they were mostly fetched, or not, together.
void check_meta_files(const std::filesystem::path& root, const std::vector<std::string>& relative);

/// "a; b; c", cut after `most` entries with the count of the rest.
std::string list_some(const std::vector<std::string>& entries, std::size_t most);

}  // namespace lerobot::data
