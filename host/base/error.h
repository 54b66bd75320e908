#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "host/base/format.h"

namespace lerobot {

/// What went wrong, as the caller of a program sees it: each kind has its own exit code.
enum class ErrorKind {
  kUsage,       ///< the command line: unknown flag, bad value (exit 2)
  kConfig,      ///< a setting or configuration file that cannot be honoured (exit 3)
  kData,        ///< the dataset (exit 4)
  kDevice,      ///< no usable device or plugin (exit 5)
  kCheckpoint,  ///< a checkpoint that cannot be read or written (exit 6)
  kNumerics,    ///< training produced a value that is not finite (exit 7)
  kMemory,      ///< host or device memory exhausted (exit 8)
  kIo,          ///< file system: missing, not permitted, full (exit 9)
  kInternal,    ///< a fault of this program (exit 70)
};

/// The exit code of a program that ends with an error of this kind.
int exit_code(ErrorKind kind) noexcept;

/// An error that ends the run with one line. The message names the thing, the value found, the value needed, the cure.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws Error with a formatted message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, std::string_view pattern, const Args&... args) {
  throw Error(kind, format(pattern, args...));
}

}  // namespace lerobot
