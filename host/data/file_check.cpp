#include "host/data/file_check.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "PAR1";
/// Magic, footer length, magic: no parquet file is shorter.
constexpr std::uintmax_t kSmallestParquet = 12;
constexpr std::string_view kPointer = "a pointer text in place of the data";
constexpr std::size_t kMaxListed = 100;

bool looks_like_text(std::string_view head) {
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') return false;
  }
  return !head.empty();
}

/// What is wrong with a parquet file that begins with `head`, or "".
std::string parquet_fault(std::string_view head, std::uintmax_t size, std::ifstream& file) {
  if (!head.starts_with(kMagic)) return looks_like_text(head) ? "a text in place of the data" : "not a parquet file";
  std::array<char, 4> tail{};
  file.seekg(-4, std::ios::end);
  const bool ends_well =
      size >= kSmallestParquet && file.read(tail.data(), 4) && std::string_view(tail.data(), 4) == kMagic;
  return ends_well ? "" : "truncated, its end mark is missing";
}

}  // namespace

std::optional<std::string> file_problem(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return "missing";
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return "not readable (" + error.message() + ")";
  if (size == 0) return "empty (0 bytes)";
  std::ifstream file(path, std::ios::binary);
  std::string head(static_cast<std::size_t>(std::min<std::uintmax_t>(size, 64)), '\0');
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) return "not readable";
  std::string fault;
  if (head.starts_with("version https://git-lfs")) {
    fault = kPointer;
  } else if (path.extension() == ".parquet") {
    fault = parquet_fault(head, size, file);
  }
  if (fault.empty()) return std::nullopt;
  return fault + " (" + std::to_string(size) + " bytes)";
}

std::vector<std::string> files_below(const fs::path& root, const char* folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root / folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored)) files.push_back(at->path().lexically_relative(root).generic_string());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> file_problems(const fs::path& root, const std::vector<std::string>& relative) {
  std::vector<std::string> problems;
  for (const std::string& file : relative) {
    if (const auto problem = file_problem(root / file)) problems.push_back(file + " is " + *problem);
  }
  return problems;
}

void refuse_file_problems(const fs::path& root, const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  const bool has_pointers = std::ranges::any_of(
      problems, [](const std::string& problem) { return problem.find(kPointer) != std::string::npos; });
  fail(ErrorKind::kData, "dataset {}: {}. {}Fetch {} again, or name the episodes to keep with --dataset.episodes.",
       root.string(), list_some(problems, kMaxListed), has_pointers ? "Pointers are resolved by git lfs pull. " : "",
       problems.size() == 1 ? "this file" : "these files");
}

void check_meta_files(const fs::path& root, const std::vector<std::string>& relative) {
  std::vector<std::string> problems = file_problems(root, relative);
  if (problems.empty()) return;
  for (const auto& [folder, extension] : {std::pair{"data", ".parquet"}, std::pair{"videos", ".mp4"}}) {
    std::vector<std::string> files = files_below(root, folder);
    std::erase_if(files, [end = extension](const std::string& file) { return fs::path(file).extension() != end; });
    std::ranges::move(file_problems(root, files), std::back_inserter(problems));
  }
  refuse_file_problems(root, problems);
}

std::string list_some(const std::vector<std::string>& entries, std::size_t most) {
  const std::size_t shown = std::min(entries.size(), most);
  std::string text = join({entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(shown)}, "; ");
  if (shown < entries.size()) text += format("; and {} more", entries.size() - shown);
  return text;
}

}  // namespace lerobot::data
