#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lerobot::accel {

/// A library that nobody provides, and the chain of libraries that needs it (the last one is the missing one).
struct MissingLibrary {
  std::vector<std::string> chain;
};

/// Follows NEEDED entries from `library` the way the loader would: `provided` (libraries loaded before, by file name or
/// path), RUNPATH, LD_LIBRARY_PATH, the loader's cache, its default directories; libraries already in this process
/// count as found. Loads nothing. Throws Error(kDevice) when a file on the way is no shared library.
std::vector<MissingLibrary> missing_libraries(const std::filesystem::path& library,
                                              const std::vector<std::filesystem::path>& provided);

/// Names in the loader's cache (/etc/ld.so.cache, glibc's format 1.1) with the files they stand for; empty when the
/// file is missing or in another format.
std::vector<std::pair<std::string, std::string>> read_loader_cache(const std::filesystem::path& cache);

}  // namespace lerobot::accel
