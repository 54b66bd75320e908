#include "host/hub/hub.h"

#include <algorithm>

#include "host/accel/library.h"
#include "host/accel/search.h"
#include "host/base/error.h"
#include "host/base/text.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  if (text.empty() || text.size() > 96) return false;
  const auto is_inner = [&](char c) { return kLetters.find(c) != std::string_view::npos || c == '_'; };
  if (!is_inner(text.front()) || !is_inner(text.back())) return false;
  return std::ranges::all_of(text, [&](char c) { return is_inner(c) || c == '-' || c == '.'; });
}

bool is_true(const char* name) {
  std::string value = environment(name).value_or("");
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

FetchFunction load() {
  const fs::path library = accel::library_directory() / "lerobot/liblerobot_hub.so";
  try {
    return reinterpret_cast<FetchFunction>(accel::Library::open(library).find(kFetchSymbol));
  } catch (const Error& error) {
    fail(ErrorKind::kIo,
         "{}. Downloads need this library and libcurl (Debian: libcurl4); a dataset or policy on disk does not: "
         "--dataset.root, or a directory as --policy.path.",
         error.what());
  }
}

}  // namespace

bool is_repo_id(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_name(text.substr(0, slash)) || !is_name(text.substr(slash + 1))) {
    return false;
  }
  return text.find("--") == std::string_view::npos && text.find("..") == std::string_view::npos &&
         !text.ends_with(".git");
}

std::optional<fs::path> path_variable(const char* name) {
  const std::string text = environment(name).value_or("");
  if (text.empty()) return std::nullopt;
  if (text == "~" || text.starts_with("~/")) return fs::path(environment("HOME").value_or("") + text.substr(1));
  return text;
}

fs::path home() {
  if (const auto home = path_variable("HF_HOME")) return *home;
  if (const auto cache = path_variable("XDG_CACHE_HOME")) return *cache / "huggingface";
  return fs::path(environment("HOME").value_or("")) / ".cache/huggingface";
}

fs::path lerobot_home() {
  if (!environment("LEROBOT_HOME").value_or("").empty()) {
    fail(ErrorKind::kUsage, "LEROBOT_HOME: found {}, a variable of old releases. Set HF_LEROBOT_HOME instead.",
         *environment("LEROBOT_HOME"));
  }
  if (const auto home = path_variable("HF_LEROBOT_HOME")) return *home;
  return home() / "lerobot";
}

bool is_offline() {
  return is_true(environment("HF_HUB_OFFLINE").value_or("").empty() ? "TRANSFORMERS_OFFLINE" : "HF_HUB_OFFLINE");
}

Fetched fetch(const Request& request) {
  static const FetchFunction function = load();
  if (!function) fail(ErrorKind::kInternal, "liblerobot_hub.so: has no {}", kFetchSymbol);
  Fetched fetched;
  function(&request, &fetched);
  return fetched;
}

}  // namespace lerobot::hub
