#include "host/checkpoint/loader.h"

#include "host/base/error.h"
#include "host/base/file.h"
#include "host/base/json.h"
#include "host/base/text.h"
#include "host/checkpoint/ema_file.h"
#include "host/checkpoint/layout.h"
#include "host/checkpoint/rng_state.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr const char* kShardedOptimizer = "optimizer_0";
constexpr const char* kShardedModel = "pytorch_model_fsdp_0";

bool is_there(const fs::path& path) {
  std::error_code ec;
  return fs::exists(path, ec);
}

/// The step directory itself: a pointer file named `last` is followed.
fs::path follow_pointer(const fs::path& path) {
  std::error_code ec;
  const fs::path trimmed = path.has_filename() ? path : path.parent_path();
  if (trimmed.filename() != kLast || !fs::is_regular_file(trimmed, ec)) return trimmed;
  const auto target = read_last(fs::absolute(trimmed).parent_path().parent_path());
  if (!target) fail(ErrorKind::kCheckpoint, "{}: names no checkpoint beside it", path.string());
  return *target;
}

[[noreturn]] void fail_absent(const fs::path& directory) {
  std::vector<std::string> steps;
  for (const fs::path& other : list_checkpoints(fs::absolute(directory).parent_path().parent_path())) {
    steps.push_back(other.filename().string());
  }
  fail(ErrorKind::kCheckpoint, "{}: no such checkpoint. {}", directory.string(),
       steps.empty() ? "There are none beside it." : "There are: " + join(steps, ", ") + ".");
}

void load_optimizer(const fs::path& state, Checkpoint& out) {
  if (!is_there(state / kOptimizerFile) && is_there(state / kShardedOptimizer)) {
    fail(ErrorKind::kCheckpoint,
         "{}: the optimizer was saved by a sharded run (FSDP2), which is not supported. Start from the weights with "
         "--policy.path instead.",
         (state / kShardedOptimizer).string());
  }
  if (!is_there(state / kOptimizerFile)) {
    fail(
        ErrorKind::kCheckpoint,
        "{}: no such file: without the optimizer's state training cannot continue. Choose another checkpoint, or start "
        "from these weights with --policy.path={}.",
        (state / kOptimizerFile).string(), shell_quote((state.parent_path() / kPretrainedModel).string()));
  }
  out.optimizer = read_tensors(state / kOptimizerFile);
  out.optimizer_param_groups =
      json::read_file(state / kParamGroupsFile, ErrorKind::kCheckpoint, json::NonFinite::kAccept);
  if (!out.optimizer_param_groups.is_array()) {
    fail(ErrorKind::kCheckpoint, "{}: not a list of parameter groups", (state / kParamGroupsFile).string());
  }
}

/// The file's JSON object; nothing when there is no file.
std::optional<boost::json::value> load_object(const fs::path& file) {
  if (!is_there(file)) return std::nullopt;
  boost::json::value out = json::read_file(file, ErrorKind::kCheckpoint, json::NonFinite::kAccept);
  if (!out.is_object()) fail(ErrorKind::kCheckpoint, "{}: not a JSON object", file.string());
  return out;
}

}  // namespace

Tensors load_model(const fs::path& pretrained_model_dir) {
  const fs::path file = pretrained_model_dir / kModelFile;
  if (!is_there(file) && is_there(pretrained_model_dir / kShardedModel)) {
    fail(ErrorKind::kCheckpoint, "{}: no such file, only shards ({}). Merge them with LeRobot's lerobot-convert-dcp.",
         file.string(), kShardedModel);
  }
  if (!is_there(file)) {
    fail(ErrorKind::kCheckpoint, "{}: no such file: the policy's weights are missing. A {} folder is needed.",
         file.string(), kPretrainedModel);
  }
  Tensors model = read_tensors(file);
  if (model.empty()) fail(ErrorKind::kCheckpoint, "{}: holds no tensors", file.string());
  return model;
}

Checkpoint load(const fs::path& checkpoint_dir) {
  const fs::path directory = follow_pointer(checkpoint_dir);
  if (!is_there(directory)) fail_absent(directory);
  const fs::path model = directory / kPretrainedModel;
  const fs::path state = directory / kTrainingState;
  for (const fs::path& part : {model, state}) {
    std::error_code ec;
    if (!fs::is_directory(part, ec)) {
      fail(ErrorKind::kCheckpoint, "{}: no such directory: {} is not a checkpoint that can be resumed", part.string(),
           directory.string());
    }
  }
  Checkpoint out;
  out.position = read_training_step(state / kStepFile);
  out.config_json = read_text(model / kConfigFile, ErrorKind::kCheckpoint);
  out.train_config_json = read_text(model / kTrainConfigFile, ErrorKind::kCheckpoint);
  out.model = load_model(model);
  out.processors = load_processors(model);
  load_optimizer(state, out);
  out.scheduler = load_object(state / kSchedulerFile);
  out.scaler = load_object(state / kScalerFile);
  if (is_there(state / kEmaFile)) out.ema = read_ema_state(state / kEmaFile);
  out.rng = read_tensors(state / kRngFile);
  check_rng_state(out.rng, state / kRngFile);
  return out;
}

}  // namespace lerobot::checkpoint
