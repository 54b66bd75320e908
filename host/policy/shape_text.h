#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <string>

namespace lerobot::policy {

/// "(3, 96, 96)", for messages.
inline std::string shape_text(c10::ArrayRef<std::int64_t> shape) {
  std::string text = "(";
  for (const std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + ")";
}

}  // namespace lerobot::policy
