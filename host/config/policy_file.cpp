#include "host/config/policy_file.h"

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/config/config_file.h"
#include "host/config/decode.h"
#include "host/config/load.h"
#include "host/config/train_fields.h"

namespace lerobot::config {
namespace {

namespace fs = std::filesystem;

/// The policy's type as the train_config.json of the same checkpoint has it.
std::optional<Node> type_beside(const fs::path& file) {
  const fs::path sibling = file.parent_path() / "train_config.json";
  std::error_code ignored;
  if (!fs::is_regular_file(sibling, ignored)) return std::nullopt;
  const Node root = read_config(sibling);
  const Node* type = root.find("policy.type");
  return type ? std::optional(*type) : std::nullopt;
}

}  // namespace

Node read_policy_node(const fs::path& file) {
  Node root = from_json(json::read_file(file, ErrorKind::kCheckpoint));
  if (!root.map()) fail(ErrorKind::kCheckpoint, "{}: found {}, needed a mapping.", file.string(), describe(root));
  if (!root.find("type")) {
    if (const auto type = type_beside(file)) {
      log::warn("{}: has no type; taken from train_config.json beside it: {}", file.string(), describe(*type));
      root.map()->insert(root.map()->begin(), {"type", *type});
    }
  }
  return root;
}

fs::path find_policy_file(const std::string& path) {
  const fs::path directory = path;
  std::error_code ignored;
  if (fs::is_regular_file(directory / "config.json", ignored)) return directory / "config.json";
  if (fs::is_directory(directory, ignored)) {
    std::string cure = "Give a checkpoint's pretrained_model directory.";
    for (const fs::path inside : {"pretrained_model", "checkpoints/last/pretrained_model"}) {
      if (!fs::is_regular_file(directory / inside / "config.json", ignored)) continue;
      cure = format("Write --policy.path={}.", shell_quote((directory / inside).string()));
    }
    fail(ErrorKind::kConfig, "--policy.path={}: found no config.json in it. {}", shell_quote(path), cure);
  }
  fail(ErrorKind::kConfig,
       "--policy.path={}: no such directory; needed one with config.json and model.safetensors, or a name on the hub, "
       "ORG/NAME.",
       shell_quote(path));
}

PolicyConfig read_policy_config(const fs::path& path) {
  Decoder decoder(path.string(), Strictness::kLenient);
  PolicyConfig out;
  decoder.read(read_policy_node(path), "", out);
  decoder.warn_about_rest();
  return out;
}

}  // namespace lerobot::config
