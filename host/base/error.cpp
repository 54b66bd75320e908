#include "host/base/error.h"

namespace lerobot {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kConfig:
      return 3;
    case ErrorKind::kData:
      return 4;
    case ErrorKind::kDevice:
      return 5;
    case ErrorKind::kCheckpoint:
      return 6;
    case ErrorKind::kNumerics:
      return 7;
    case ErrorKind::kMemory:
      return 8;
    case ErrorKind::kIo:
      return 9;
    case ErrorKind::kInternal:
      return 70;
  }
  return 70;
}

}  // namespace lerobot
