#include <array>
#include <fstream>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/data/parquet_file.h"

namespace lerobot::data {
namespace {

constexpr std::string_view kMagic = "PAR1";
/// Magic, footer length, magic: no parquet file is shorter.
constexpr std::uintmax_t kSmallestFile = 12;

bool looks_like_pointer(std::string_view head) {
  return head.starts_with("version https://git-lfs");
}

bool looks_like_text(std::string_view head) {
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') return false;
  }
  return !head.empty();
}

}  // namespace

std::optional<std::string> parquet_problem(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "missing";
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return "not readable (" + error.message() + ")";
  if (size == 0) return "empty (0 bytes)";
  const std::string bytes = " (" + std::to_string(size) + " bytes)";
  std::ifstream file(path, std::ios::binary);
  std::string head(static_cast<std::size_t>(std::min<std::uintmax_t>(size, 64)), '\0');
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) return "not readable";
  if (looks_like_pointer(head)) return "a pointer text in place of the data" + bytes;
  if (!head.starts_with(kMagic)) {
    return (looks_like_text(head) ? "a text in place of the data" : "not a parquet file") + bytes;
  }
  std::array<char, 4> tail{};
  file.seekg(-4, std::ios::end);
  if (size < kSmallestFile || !file.read(tail.data(), 4) || std::string_view(tail.data(), 4) != kMagic) {
    return "truncated, its end mark is missing" + bytes;
  }
  return std::nullopt;
}

void check_parquet_files(const std::filesystem::path& root, const std::vector<std::string>& relative_paths) {
  std::vector<std::string> problems;
  for (const std::string& relative : relative_paths) {
    if (auto problem = parquet_problem(root / relative)) problems.push_back(relative + " is " + *problem);
  }
  if (problems.empty()) return;
  fail(ErrorKind::kData, "dataset {}: {}. Fetch {} again, or name the episodes to keep with --dataset.episodes.",
       root.string(), join(problems, "; "), problems.size() == 1 ? "this file" : "these files");
}

}  // namespace lerobot::data
