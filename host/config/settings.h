#pragma once

#include <string>
#include <string_view>

#include "host/config/decode.h"
#include "host/config/node.h"

namespace lerobot::config {

/// Everything given for a run before types are known, and where each value is from. For messages and for rules that
/// depend on what was typed.
struct Settings {
  Node typed = empty_map(Node::Origin::kTyped);
  Node file = empty_map(Node::Origin::kFile);
  Node merged = empty_map(Node::Origin::kFile);  ///< `typed` over `file` over a policy's config.json
  std::string file_name;                         ///< empty without --config_path
  std::string policy_file_name;                  ///< the config.json of --policy.path, or empty
  Strictness strictness = Strictness::kStrict;   ///< of the file

  /// Whether a value stands on the command line (a typed null counts).
  bool is_typed(std::string_view path) const { return typed.find(path) != nullptr; }

  /// Throws an error that names the flag (kUsage), or the file the value is from (kConfig).
  [[noreturn]] void refuse(std::string_view path, const std::string& message) const;
};

}  // namespace lerobot::config
