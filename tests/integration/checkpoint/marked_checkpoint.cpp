#include "tests/integration/checkpoint/marked_checkpoint.h"

#include <ATen/ops/full.h>

#include <stdexcept>

#include "host/base/format.h"
#include "host/checkpoint/layout.h"
#include "host/checkpoint/loader.h"
#include "host/checkpoint/rng_state.h"

namespace lerobot::checkpoint {
namespace fs = std::filesystem;

namespace {

/// Without the statistics that no policy needs: fewer calls to write them.
std::vector<ProcessorFile> small_processors() {
  std::vector<ProcessorFile> out =
      load_processors(fs::path(LEROBOT_TEST_DATA) / "checkpoints/act_keypoints/checkpoints/000020/pretrained_model");
  for (ProcessorFile& processor : out) {
    for (auto& [file, state] : processor.states) {
      Tensors needed;
      for (const auto& [name, tensor] : state) {
        const bool is_feature = name.starts_with("action") || name.starts_with("observation");
        if (is_feature && (name.ends_with(".mean") || name.ends_with(".std"))) needed.append(name, tensor);
      }
      state = needed;
    }
  }
  return out;
}

}  // namespace

MarkedCheckpoint::MarkedCheckpoint(std::int64_t elements) {
  const auto filled = [&] { return at::full({elements}, 0.0, at::kFloat); };
  state_.model = {{"model.weight", filled()}};
  state_.processors = small_processors();
  state_.optimizer = {{"state/0/exp_avg", filled()}};
  state_.optimizer_param_groups = boost::json::array{boost::json::object{{"lr", 0.5}}};
  state_.rng = fresh_rng_state(1000);
  state_.ema = EmaState{.decay = 0.5, .shadow = {{"model.weight", filled()}}};
}

const Checkpoint& MarkedCheckpoint::set(std::int64_t step, std::int64_t mark) {
  const auto value = static_cast<double>(mark);
  for (Tensors* tensors : {&state_.model, &state_.optimizer, &state_.ema->shadow})
    tensors->begin()->second.fill_(value);
  state_.position = {
      .step = step, .dp_world_size = 1, .batch_size = mark, .grad_accum_steps = 1, .parallelism = Parallelism{}};
  state_.config_json = state_.train_config_json = format("{{\"mark\": {}}}", mark);
  state_.scaler = boost::json::object{{"scale", value}};
  state_.ema->optimization_step = mark;
  return state_;
}

std::int64_t read_mark(const fs::path& checkpoint_dir) {
  const Checkpoint found = load(checkpoint_dir);
  const std::int64_t mark = found.position.batch_size.value();
  const auto check = [&](bool holds, const char* part) {
    if (!holds) throw std::runtime_error(format("{}: {} is not of {}", checkpoint_dir.string(), part, mark));
  };
  const std::string text = format("{{\"mark\": {}}}", mark);
  check(found.config_json == text && found.train_config_json == text, "a configuration");
  check(found.scaler && found.scaler->at("scale").as_double() == static_cast<double>(mark), "the scaler");
  check(found.ema && found.ema->optimization_step == mark, "the average's count");
  const Tensors average = load_model(checkpoint_dir / kPretrainedModelEma);
  for (const Tensors* tensors : {&found.model, &found.optimizer, &found.ema->shadow, &average}) {
    check(tensors->begin()->second.eq(static_cast<double>(mark)).all().item<bool>(), "a tensor");
  }
  return mark;
}

}  // namespace lerobot::checkpoint
