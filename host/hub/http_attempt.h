#pragma once

#include <curl/curl.h>

#include <exception>
#include <memory>
#include <string>

#include "host/hub/http.h"

namespace lerobot::hub {

/// What one request asks for.
struct Ask {
  std::string url;
  std::uint64_t from = 0;  ///< first byte that is wanted
  bool with_token = false;
};

/// One request and its response, running in a multi handle for as long as the object lives.
class HttpAttempt {
 public:
  /// `origin` is what the hub answered before a redirect, or null when this is its answer.
  HttpAttempt(CURLM* multi, const Settings& settings, const Ask& ask, Receiver& receiver, const Response* origin);
  ~HttpAttempt();
  HttpAttempt(const HttpAttempt&) = delete;
  HttpAttempt& operator=(const HttpAttempt&) = delete;

  CURL* handle() const { return handle_.get(); }
  const Response& response() const { return response_; }
  /// What the receiver threw, if it did.
  std::exception_ptr error() const { return error_; }
  /// Tells the receiver that a body begins, unless its first bytes did already (an empty body has none).
  void begin_body();
  /// Why it failed, for people.
  std::string problem(CURLcode code) const;
  /// Seconds that the server asks to wait; 0: none.
  long asked_wait() const;

 private:
  struct Deleter {
    void operator()(void* handle) const { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self);
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self);
  void set_options(const Settings& settings, const Ask& ask);
  void take_header(std::string_view line);
  /// Where the body begins, by the server's words.
  std::uint64_t body_offset() const;

  CURLM* multi_;
  std::unique_ptr<void, Deleter> handle_;
  std::unique_ptr<curl_slist, Deleter> headers_;
  Receiver& receiver_;
  const Response* origin_;
  Response response_;
  bool has_begun_ = false;
  std::size_t ignored_ = 0;  ///< bytes of the body of an error
  std::exception_ptr error_;
  char words_[CURL_ERROR_SIZE] = {};
};

}  // namespace lerobot::hub
