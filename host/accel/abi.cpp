#include "host/accel/abi.h"

#include "host/base/error.h"

namespace lerobot::accel {
namespace {

/// Bytes of the UTF-8 sequence at the start of `text`, or 0 when it is not a valid one (overlong forms and surrogates
/// included).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

const char* status_name(lra_status status) {
  switch (status) {
    case LRA_INTERNAL:
      return "internal error";
    case LRA_INVALID_ARGUMENT:
      return "invalid argument";
    case LRA_UNSUPPORTED:
      return "unsupported";
    case LRA_UNAVAILABLE:
      return "unavailable";
    case LRA_INCOMPATIBLE:
      return "incompatible";
    case LRA_WRONG_STATE:
      return "wrong state";
    case LRA_OUT_OF_MEMORY:
      return "out of memory";
    case LRA_DEVICE_FAILURE:
      return "device failure";
    default:
      return "unknown status";
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += '?';
    } else if (first < 0x20 || first == 0x7f) {
      out += ' ';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

void check_status(lra_status status, const lra_error& error, std::string_view function) {
  if (status == LRA_OK) return;
  std::string message = bounded_text(error.message);
  if (message.empty()) message = format("{} (status {}), without a message", status_name(status), status);
  const std::string hint = bounded_text(error.hint);
  const std::string vendor = error.vendor_code != 0 ? format(" (vendor code {})", error.vendor_code) : "";
  fail(status == LRA_OUT_OF_MEMORY ? ErrorKind::kMemory : ErrorKind::kDevice, "{}: {}{}{}{}", function, message, vendor,
       hint.empty() ? "" : ". ", hint);
}

}  // namespace lerobot::accel
