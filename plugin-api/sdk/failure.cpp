#include "sdk/failure.h"

#include <algorithm>
#include <new>

namespace lerobot::sdk {

void copy_text(char* destination, std::size_t capacity, std::string_view text) noexcept {
  if (capacity == 0) return;
  std::size_t length = std::min(text.size(), capacity - 1);
  if (length < text.size()) {
    // A byte 10xxxxxx continues a character, which would be cut in two here.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  }
  text.copy(destination, length);
  destination[length] = '\0';
}

lra_status report(lra_error* error, lra_status status, std::string_view message, std::string_view hint,
                  std::int64_t vendor_code) noexcept {
  // A caller whose lra_error is smaller than version 1.0's gets the status alone.
  if (error != nullptr && error->struct_size >= sizeof(lra_error)) {
    error->code = status;
    error->vendor_code = vendor_code;
    copy_text(error->message, message);
    copy_text(error->hint, hint);
  }
  return status;
}

lra_status report_current_exception(lra_error* error) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return report(error, failure.status(), failure.what(), failure.hint(), failure.vendor_code());
  } catch (const std::bad_alloc&) {
    return report(error, LRA_OUT_OF_MEMORY, "the plugin ran out of host memory");
  } catch (const std::exception& exception) {
    return report(error, LRA_INTERNAL, exception.what());
  } catch (...) {
    return report(error, LRA_INTERNAL, "the plugin threw something that is not a std::exception");
  }
}

}  // namespace lerobot::sdk
