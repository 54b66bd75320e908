#include "host/hub/http_attempt.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "host/base/error.h"

namespace lerobot::hub {
namespace {

constexpr std::size_t kMostIgnored = 1U << 20U;
constexpr std::size_t kMostHeaders = 200;

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

template <class Number>
Number number_at(std::string_view text, Number otherwise) {
  Number number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string Response::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpAttempt::HttpAttempt(CURLM* multi, const Settings& settings, const Ask& ask, Receiver& receiver,
                         const Response* origin)
    : multi_(multi), handle_(curl_easy_init()), receiver_(receiver), origin_(origin) {
  if (!handle_) fail(ErrorKind::kInternal, "libcurl: no handle");
  set_options(settings, ask);
  curl_multi_add_handle(multi_, handle());
}

HttpAttempt::~HttpAttempt() {
  curl_multi_remove_handle(multi_, handle());
}

void HttpAttempt::set_options(const Settings& settings, const Ask& ask) {
  const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(handle(), option, value); };
  set(CURLOPT_URL, ask.url.c_str());
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, words_);
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // a connection for each file
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, "lerobot-native/" LEROBOT_VERSION);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::chrono::milliseconds(settings.connect_timeout).count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(settings.stalled_timeout.count()));
  if (!settings.certificates.empty()) set(CURLOPT_CAINFO, settings.certificates.c_str());
  if (ask.from > 0) set(CURLOPT_RANGE, format("{}-", ask.from).c_str());
  if (ask.with_token && !settings.token.empty()) {
    headers_.reset(curl_slist_append(nullptr, ("Authorization: Bearer " + settings.token).c_str()));
    set(CURLOPT_HTTPHEADER, headers_.get());
  }
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, this);
}

std::size_t HttpAttempt::on_header(char* data, std::size_t, std::size_t size, void* self) {
  auto* attempt = static_cast<HttpAttempt*>(self);
  try {
    attempt->take_header({data, size});
  } catch (...) {
    attempt->error_ = std::current_exception();
    return 0;
  }
  return size;
}

void HttpAttempt::take_header(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // of the final response: after "100 Continue" comes another
    response_ = {};
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos) response_.status = number_at<long>(line.substr(blank + 1), 0);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || response_.headers.size() >= kMostHeaders) return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  response_.headers[name] = trimmed(line.substr(colon + 1));
}

std::size_t HttpAttempt::on_body(char* data, std::size_t, std::size_t size, void* self) {
  auto* attempt = static_cast<HttpAttempt*>(self);
  if (attempt->response_.status >= 300) {
    attempt->ignored_ += size;
    return attempt->ignored_ <= kMostIgnored ? size : 0;
  }
  try {
    attempt->begin_body();
    attempt->receiver_.add({data, size});
  } catch (...) {
    attempt->error_ = std::current_exception();
    return 0;
  }
  return size;
}

void HttpAttempt::begin_body() {
  if (has_begun_) return;
  has_begun_ = true;
  receiver_.begin(origin_ ? *origin_ : response_, response_, body_offset());
}

std::uint64_t HttpAttempt::body_offset() const {
  const std::string range = response_.header("content-range");  // "bytes 100-199/200"
  if (response_.status != 206 || !range.starts_with("bytes ")) return 0;
  return number_at<std::uint64_t>(std::string_view(range).substr(6), 0);
}

std::string HttpAttempt::problem(CURLcode code) const {
  return words_[0] != '\0' ? words_ : curl_easy_strerror(code);
}

long HttpAttempt::asked_wait() const {
  curl_off_t seconds = 0;
  curl_easy_getinfo(handle(), CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0) return static_cast<long>(seconds);
  const std::string limit = response_.header("ratelimit");  // "api";r=0;t=55
  const std::size_t at = limit.find(";t=");
  return at == std::string::npos ? 0 : number_at<long>(std::string_view(limit).substr(at + 3), 0);
}

}  // namespace lerobot::hub
