#include "host/hub/settings.h"

#include <algorithm>
#include <charconv>

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/text.h"

namespace lerobot::hub {
namespace {

namespace fs = std::filesystem;

/// The value of the first of these variables that is set.
std::string first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string value = environment(name).value_or("");
    if (!value.empty()) return value;
  }
  return "";
}

std::string read_endpoint() {
  std::string endpoint = first_of({"HF_ENDPOINT"});
  if (endpoint.empty()) return Settings{}.endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool is_url = endpoint.starts_with("https://") || endpoint.starts_with("http://");
  const bool is_plain = std::ranges::none_of(endpoint, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  if (is_url && is_plain) return endpoint;
  fail(ErrorKind::kUsage, "HF_ENDPOINT: found {}, needed a URL that begins with https:// or http://.",
       shell_quote(endpoint));
}

/// The text without line ends and outer blanks, as huggingface_hub cleans it.
std::string clean(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string read_token() {
  std::string token = clean(first_of({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}));
  std::string source = "HF_TOKEN";
  if (token.empty()) {
    const fs::path file = path_variable("HF_TOKEN_PATH").value_or(home() / "token");
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return "";
    token = clean(read_text(file, ErrorKind::kIo));
    source = file.string();
  }
  const bool is_visible = std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!is_visible) {
    fail(ErrorKind::kUsage, "{}: found blanks or letters beyond ASCII in the token, needed hf_... alone.", source);
  }
  return token;
}

std::chrono::seconds read_seconds(const char* name, std::chrono::seconds initial) {
  const std::string text = first_of({name});
  if (text.empty()) return initial;
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 1) {
    fail(ErrorKind::kUsage, "{}: found {}, needed a number of seconds, 1 or more.", name, shell_quote(text));
  }
  return std::chrono::seconds(seconds);
}

fs::path cache_directory(RepoType type) {
  if (type == RepoType::kDataset) return lerobot_home() / "hub";
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto directory = path_variable(name)) return *directory;
  }
  return home() / "hub";
}

}  // namespace

Settings read_settings(RepoType type) {
  Settings settings;
  settings.endpoint = read_endpoint();
  settings.token = read_token();
  settings.cache = fs::absolute(cache_directory(type)).lexically_normal();
  settings.certificates = first_of({"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"});
  settings.offline = is_offline();
  settings.stalled_timeout = read_seconds("HF_HUB_DOWNLOAD_TIMEOUT", settings.stalled_timeout);
  return settings;
}

}  // namespace lerobot::hub
