#include "host/accel/images.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/text.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

bool matches_any(const std::string& name, std::initializer_list<const char*> patterns) {
  return std::ranges::any_of(patterns, [&](const char* pattern) { return glob_match(pattern, name); });
}

bool is_openmp(const fs::path& path) {
  return matches_any(path.filename().string(), {"libgomp*.so*", "libomp*.so*", "libiomp5*.so*"});
}

bool is_torch(const fs::path& path) {
  return matches_any(path.filename().string(), {"libtorch*.so*", "libc10*.so*", "libcaffe2*.so*"});
}

/// Device and inode. Not those in /proc/<pid>/maps: overlay file systems and btrfs show other device numbers there.
using FileId = std::pair<dev_t, ino_t>;

FileId file_id(const fs::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return {0, 0};
  return {status.st_dev, status.st_ino};
}

}  // namespace

std::vector<fs::path> mapped_files(std::string_view maps) {
  std::vector<fs::path> files;
  std::istringstream lines{std::string(maps)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find('/');  // the fields before the path hold no slash
    if (at == std::string::npos) continue;
    const fs::path path = line.substr(at);
    if (std::ranges::find(files, path) == files.end()) files.push_back(path);
  }
  return files;
}

std::vector<std::string> foreign_images(const std::vector<fs::path>& mapped, const std::vector<fs::path>& chosen,
                                        const fs::path& directory) {
  std::vector<fs::path> own_files = chosen;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec); !ec && it != fs::directory_iterator(); it.increment(ec)) {
    own_files.push_back(it->path());
  }
  std::set<FileId> own;
  for (const fs::path& path : own_files) own.insert(file_id(path));
  own.erase({0, 0});

  std::vector<std::string> foreign;
  std::vector<std::string> openmp;
  for (const fs::path& path : mapped) {
    if (own.contains(file_id(path))) continue;
    if (is_torch(path)) foreign.push_back(path.string());
    if (is_openmp(path)) openmp.push_back(path.string());
  }
  if (std::ranges::any_of(own_files, is_openmp) || openmp.size() > 1) {
    foreign.insert(foreign.end(), openmp.begin(), openmp.end());
  }
  return foreign;
}

void require_one_torch(const std::vector<fs::path>& chosen, const fs::path& directory) {
  const auto foreign =
      foreign_images(mapped_files(read_text("/proc/self/maps", ErrorKind::kInternal)), chosen, directory);
  if (foreign.empty()) return;
  std::string cause;
  for (const char* variable : {"LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    if (const auto value = environment(variable)) cause += format(" ({}={})", variable, *value);
  }
  fail(ErrorKind::kDevice,
       "{}: loaded, but not part of the chosen torch in {}; two copies abort the process. Remove "
       "what brings it in{}",
       join(foreign, ", "), directory.string(), cause);
}

}  // namespace lerobot::accel
