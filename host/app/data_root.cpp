#include "host/app/data_root.h"

#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;

fs::path datasets_home() {
  if (const auto home = environment("HF_LEROBOT_HOME")) return *home;
  if (const auto home = environment("HF_HOME")) return fs::path(*home) / "lerobot";
  if (const auto cache = environment("XDG_CACHE_HOME")) return fs::path(*cache) / "huggingface/lerobot";
  return fs::path(environment("HOME").value_or("")) / ".cache/huggingface/lerobot";
}

}  // namespace

fs::path find_dataset(const std::string& path_or_name) {
  fs::path path = path_or_name;
  if (fs::is_directory(path)) return path;
  fs::path named = datasets_home() / path;
  if (path.is_relative() && fs::is_directory(named)) return named;
  fail(ErrorKind::kData, "no dataset at {}{}. Name the folder that holds meta/ and data/.", path.string(),
       path.is_relative() ? " or at " + named.string() : "");
}

}  // namespace lerobot
