#include "host/accel/dependencies.h"

#include <link.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "host/accel/elf.h"
#include "host/accel/search.h"
#include "host/base/file.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxLibraries = 512;

int add_loaded_name(dl_phdr_info* info, std::size_t, void* names) {
  if (info->dlpi_name)
    static_cast<std::set<std::string>*>(names)->insert(fs::path(info->dlpi_name).filename().string());
  return 0;
}

/// Where the loader looks, besides a library's own RUNPATH.
class Loader {
 public:
  explicit Loader(const std::vector<fs::path>& provided) {
    for (const fs::path& path : provided) provided_.emplace(path.filename().string(), path);
    ::dl_iterate_phdr(add_loaded_name, &loaded_);
    const Variables variables = trusted_variables();
    if (const auto list = variables.find("LD_LIBRARY_PATH"); list != variables.end()) {
      std::istringstream parts(list->second);
      for (std::string part; std::getline(parts, part, ':');) directories_.push_back(part.empty() ? "." : part);
    }
    for (auto& [name, path] : read_loader_cache("/etc/ld.so.cache")) cache_.emplace(name, path);
  }

  /// True when `name` is found; `path` is set when its own needs should be followed too.
  bool find(const std::string& name, const std::vector<std::string>& search_path, std::optional<fs::path>& path) const {
    std::error_code ec;
    if (name.find('/') != std::string::npos) return fs::exists(name, ec);
    if (loaded_.contains(name)) return true;
    if (const auto found = provided_.find(name); found != provided_.end()) return path = found->second, true;
    for (const auto* directories : {&search_path, &directories_}) {
      for (const std::string& directory : *directories) {
        if (fs::exists(fs::path(directory) / name, ec)) return path = fs::path(directory) / name, true;
      }
    }
    if (const auto found = cache_.find(name); found != cache_.end()) return path = found->second, true;
    for (const char* directory : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
      if (fs::exists(fs::path(directory) / name, ec)) return path = fs::path(directory) / name, true;
    }
    return false;
  }

 private:
  std::map<std::string, fs::path> provided_;
  std::set<std::string> loaded_;
  std::vector<std::string> directories_;
  std::map<std::string, std::string> cache_;
};

class Walk {
 public:
  explicit Walk(const std::vector<fs::path>& provided) : loader_(provided) {}

  void visit(const fs::path& library, std::vector<std::string> chain) {
    chain.push_back(library.filename().string());
    if (!seen_.insert(chain.back()).second || seen_.size() > kMaxLibraries) return;
    const ElfInfo info = read_elf(library);
    for (const std::string& name : info.needed) {
      std::optional<fs::path> path;
      if (!loader_.find(name, info.search_path, path)) {
        missing.push_back({chain});
        missing.back().chain.push_back(name);
      } else if (path) {
        visit(*path, chain);
      }
    }
  }

  std::vector<MissingLibrary> missing;

 private:
  Loader loader_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<MissingLibrary> missing_libraries(const fs::path& library, const std::vector<fs::path>& provided) {
  Walk walk(provided);
  walk.visit(library, {});
  return std::move(walk.missing);
}

std::vector<std::pair<std::string, std::string>> read_loader_cache(const fs::path& cache) {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr std::size_t kHeader = 48;
  constexpr std::size_t kEntry = 24;
  std::error_code ec;
  if (!fs::is_regular_file(cache, ec)) return {};
  std::string bytes;
  try {
    bytes = read_text(cache, ErrorKind::kIo);
  } catch (const Error&) {
    return {};
  }
  // Older systems put a file of the first format in front; offsets count from the start of this one.
  const std::size_t start = bytes.find(kMagic);
  if (start == std::string::npos || bytes.size() - start < kHeader) return {};
  const std::string_view view = std::string_view(bytes).substr(start);
  const auto number = [&](std::size_t offset) {
    std::uint32_t value;
    std::memcpy(&value, view.data() + offset, sizeof value);
    return value;
  };
  const auto text = [&](std::size_t offset) -> std::string {
    if (offset >= view.size()) return "";
    const std::size_t end = view.find('\0', offset);
    return end == std::string_view::npos ? "" : std::string(view.substr(offset, end - offset));
  };
  std::vector<std::pair<std::string, std::string>> entries;
  const std::size_t count = std::min<std::size_t>(number(kMagic.size()), (view.size() - kHeader) / kEntry);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kHeader + i * kEntry;
    entries.emplace_back(text(number(at + 4)), text(number(at + 8)));
  }
  return entries;
}

}  // namespace lerobot::accel
