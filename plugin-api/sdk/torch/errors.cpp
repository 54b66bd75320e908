#include "sdk/torch/errors.h"

#include <c10/util/Exception.h>

namespace lerobot::sdk {
namespace {

std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

/// What torch says when a build holds no machine code for the device's architecture.
bool misses_device_code(const std::string& message) {
  return message.find("no kernel image") != std::string::npos ||
         message.find("device kernel image is invalid") != std::string::npos;
}

}  // namespace

void rethrow_torch_error() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw Failure(LRA_OUT_OF_MEMORY, first_line(error), "Use a smaller batch.");
  } catch (const c10::AcceleratorError& error) {
    const std::string message = first_line(error);
    throw Failure(misses_device_code(message) ? LRA_UNSUPPORTED : LRA_DEVICE_FAILURE, message, "",
                  error.get_error_code());
  } catch (const c10::Error& error) {
    throw Failure(LRA_INTERNAL, first_line(error));
  }
}

}  // namespace lerobot::sdk
