#include "host/checkpoint/processor_file.h"

#include <ATen/ops/isfinite.h>

#include <array>
#include <string_view>

#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/text.h"
#include "host/checkpoint/layout.h"
#include "host/checkpoint/tensor_file.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;
namespace bj = boost::json;
namespace {

constexpr std::array<std::string_view, 2> kNames{"policy_preprocessor", "policy_postprocessor"};

/// Which statistics a normalization mode computes with.
struct Mode {
  std::string_view name;
  std::vector<std::string_view> statistics;
};
const std::vector<Mode>& modes() {
  static const std::vector<Mode> kModes{{"IDENTITY", {}},
                                        {"MEAN_STD", {"mean", "std"}},
                                        {"MIN_MAX", {"min", "max"}},
                                        {"QUANTILES", {"q01", "q99"}},
                                        {"QUANTILE10", {"q10", "q90"}}};
  return kModes;
}

/// Older policies kept the statistics as buffers of the model.
[[noreturn]] void fail_missing(const fs::path& file) {
  const fs::path model = file.parent_path() / kModelFile;
  std::error_code ec;
  if (fs::is_regular_file(model, ec)) {
    const SafetensorsFile weights(model, ErrorKind::kCheckpoint);
    for (const auto& [name, view] : weights.tensors()) {
      for (const std::string_view prefix : {"normalize_inputs.", "normalize_targets.", "unnormalize_outputs."}) {
        if (name.starts_with(prefix)) {
          fail(
              ErrorKind::kCheckpoint,
              "{}: no such file: this checkpoint is older than processor files, its normalization statistics are in {} "
              "({}, ...). Convert it with LeRobot's migrate_policy_normalization.py.",
              file.string(), kModelFile, name);
        }
      }
    }
  }
  fail(ErrorKind::kCheckpoint,
       "{}: no such file: it holds the normalization that the policy was trained with. Copy it, with its .safetensors "
       "files, from the {} folder that the weights come from.",
       file.string(), kPretrainedModel);
}

const bj::value* member(const bj::value& value, std::string_view key) {
  const bj::object* object = value.if_object();
  return object ? object->if_contains(key) : nullptr;
}

std::optional<std::string_view> text_member(const bj::value& value, std::string_view key) {
  const bj::value* found = member(value, key);
  if (!found || !found->is_string()) return std::nullopt;
  return std::string_view(found->get_string());
}

/// The step's state file, which must lie beside the JSON file.
std::optional<std::string> state_file(const bj::value& step, const fs::path& file) {
  const bj::value* found = member(step, "state_file");
  if (!found || found->is_null()) return std::nullopt;
  const std::string name = found->is_string() ? std::string(std::string_view(found->get_string())) : "";
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    fail(ErrorKind::kCheckpoint, "{}: state_file is {}, the name of a file in the same folder is needed", file.string(),
         json::write_line(*found));
  }
  return name;
}

/// How many numbers each statistic of the feature has: cameras have one per channel. 0: the JSON does not say.
std::int64_t statistic_size(const bj::value& feature) {
  const bj::value* shape = member(feature, "shape");
  if (!shape || !shape->is_array() || shape->get_array().empty()) return 0;
  std::int64_t size = 1;
  for (const bj::value& extent : shape->get_array()) {
    constexpr std::int64_t kMost = 1 << 20;
    if (!extent.is_int64() || extent.get_int64() <= 0 || extent.get_int64() > kMost) return 0;
    size = std::min(size * extent.get_int64(), kMost);
    if (text_member(feature, "type") == "VISUAL") break;
  }
  return size;
}

void check_statistic(const Tensors& state, const std::string& name, std::int64_t size, const fs::path& file) {
  const at::Tensor* tensor = state.find(name);
  if (!tensor) {
    fail(ErrorKind::kCheckpoint,
         "{}: holds no {}, which normalization needs. Restore the file that the checkpoint was saved with.",
         file.string(), name);
  }
  if (tensor->numel() != size) {
    fail(ErrorKind::kCheckpoint, "{}: {} has {} numbers, its feature needs {}", file.string(), name, tensor->numel(),
         size);
  }
  if (!at::isfinite(*tensor).all().item<bool>()) {
    fail(ErrorKind::kCheckpoint, "{}: {} is not finite. Restore the file that the checkpoint was saved with.",
         file.string(), name);
  }
}

/// Checks what a normalizing step computes with.
void check_statistics(const bj::value& step, const Tensors& state, const fs::path& file) {
  const auto name = text_member(step, "registry_name");
  if (name != "normalizer_processor" && name != "unnormalizer_processor") return;
  const bj::value* config = member(step, "config");
  const bj::value* features = config ? member(*config, "features") : nullptr;
  const bj::value* norm_map = config ? member(*config, "norm_map") : nullptr;
  if (!features || !features->is_object() || !norm_map || !norm_map->is_object()) {
    fail(ErrorKind::kCheckpoint, "{}: step {} lacks config.features or config.norm_map", file.string(), *name);
  }
  for (const auto& [key, feature] : features->get_object()) {
    const auto type = text_member(feature, "type");
    const auto mode_name = type ? text_member(*norm_map, *type) : std::nullopt;
    if (!mode_name) continue;  // a type that is not in the map is left as it is
    const auto& known = modes();
    const auto mode = std::find_if(known.begin(), known.end(), [&](const Mode& m) { return m.name == *mode_name; });
    if (mode == known.end()) {
      fail(ErrorKind::kCheckpoint, "{}: norm_map.{} is {}, which is no normalization mode", file.string(), *type,
           *mode_name);
    }
    for (const std::string_view statistic : mode->statistics) {
      check_statistic(state, format("{}.{}", std::string_view(key), statistic), statistic_size(feature), file);
    }
  }
}

ProcessorFile load_processor(const fs::path& directory, std::string_view name) {
  const fs::path file = directory / format("{}.json", name);
  std::error_code ec;
  if (!fs::exists(file, ec)) fail_missing(file);
  ProcessorFile out{.name = std::string(name), .json = json::read_file(file, ErrorKind::kCheckpoint), .states = {}};
  const bj::value* steps = member(out.json, "steps");
  if (!steps || !steps->is_array()) fail(ErrorKind::kCheckpoint, "{}: holds no list \"steps\"", file.string());
  for (const bj::value& step : steps->get_array()) {
    const auto state = state_file(step, file);
    if (state && !out.states.contains(*state)) out.states[*state] = read_tensors(directory / *state);
    check_statistics(step, state ? out.states[*state] : Tensors(), state ? directory / *state : file);
  }
  return out;
}

}  // namespace

std::vector<ProcessorFile> load_processors(const fs::path& pretrained_model_dir) {
  std::vector<ProcessorFile> out;
  for (const std::string_view name : kNames) out.push_back(load_processor(pretrained_model_dir, name));
  return out;
}

}  // namespace lerobot::checkpoint
