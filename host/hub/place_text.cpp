#include "host/hub/place_text.h"

#include <unistd.h>

#include <fstream>

#include "host/base/error.h"

namespace lerobot::hub {
namespace fs = std::filesystem;

void make_parents(const fs::path& path) {
  std::error_code ec;
  fs::create_directories(path.parent_path(), ec);
  if (!ec) return;
  fail(ErrorKind::kIo,
       "{}: cannot be created: {}. Set HF_HOME (datasets: HF_LEROBOT_HOME) to a folder that can be written to.",
       path.parent_path().string(), ec.message());
}

bool has_size(const fs::path& path, std::uint64_t bytes) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && fs::file_size(path, ec) == bytes && !ec;
}

void place_text(const fs::path& path, std::string_view content) {
  make_parents(path);
  fs::path temporary = path;
  temporary += format(".{}.tmp", ::getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  std::error_code ec;
  if (out) fs::rename(temporary, path, ec);
  if (out && !ec) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  fail(ErrorKind::kIo, "{}: cannot be written{}. Is there room, and may this user write there?", path.string(),
       ec ? ": " + ec.message() : "");
}

}  // namespace lerobot::hub
