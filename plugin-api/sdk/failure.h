// Exceptions inside a plugin, status codes outside: the one place where the two meet.
#pragma once

#include <lerobot_accel.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace lerobot::sdk {

/// What a plugin's own code throws: the status the caller sees, with its message and hint (one line each).
class Failure : public std::exception {
 public:
  Failure(lra_status status, std::string message, std::string hint = {}, std::int64_t vendor_code = 0)
      : status_(status), message_(std::move(message)), hint_(std::move(hint)), vendor_code_(vendor_code) {}

  const char* what() const noexcept override { return message_.c_str(); }
  lra_status status() const noexcept { return status_; }
  const std::string& hint() const noexcept { return hint_; }
  std::int64_t vendor_code() const noexcept { return vendor_code_; }

 private:
  lra_status status_;
  std::string message_;
  std::string hint_;
  std::int64_t vendor_code_;
};

/// Copies UTF-8 text into an array that is always terminated; text that is too long is cut between two characters.
void copy_text(char* destination, std::size_t capacity, std::string_view text) noexcept;

template <std::size_t N>
void copy_text(char (&destination)[N], std::string_view text) noexcept {
  copy_text(destination, N, text);
}

/// Fills the caller's error as far as it reaches (nothing when it is null) and returns `status`.
lra_status report(lra_error* error, lra_status status, std::string_view message, std::string_view hint = {},
                  std::int64_t vendor_code = 0) noexcept;

/// `report` for the exception being handled: a Failure as it is, bad_alloc as LRA_OUT_OF_MEMORY, others as
/// LRA_INTERNAL.
lra_status report_current_exception(lra_error* error) noexcept;

/// Runs the body of an entry point: LRA_OK when it returns, a status and a filled error when it throws.
template <typename Body>
lra_status guarded(lra_error* error, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return LRA_OK;
  } catch (...) {
    return report_current_exception(error);
  }
}

}  // namespace lerobot::sdk
