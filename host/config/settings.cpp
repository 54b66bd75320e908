#include "host/config/settings.h"

namespace lerobot::config {

void Settings::refuse(std::string_view path, const std::string& message) const {
  const Node* node = merged.find(path);
  if (!node || node->is_typed()) fail(ErrorKind::kUsage, "--{}: {}", path, message);
  const bool from_policy = !policy_file_name.empty() && path.starts_with("policy.") && !file.find(path);
  fail(ErrorKind::kConfig, "{}: {}: {}", from_policy ? policy_file_name : file_name, path, message);
}

}  // namespace lerobot::config
