// checkpoint_saver OUTPUT_DIR [POINT COUNT]: resumes from the newest checkpoint in OUTPUT_DIR, or begins at step 0, and
// saves after every step, in the background. With POINT it kills itself when it reaches that point of a save for the
// COUNT-th time. Every tensor of a checkpoint holds its step, so that a mixture of two is seen; they are the same
// tensors each time, which change as soon as they are read. Steps past 3 begin again at 1: then a directory of that
// step is there already.

#include <ATen/ops/full.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "host/checkpoint/background_save.h"
#include "host/checkpoint/loader.h"
#include "host/checkpoint/rng_state.h"
#include "host/checkpoint/writer.h"

namespace {

namespace fs = std::filesystem;
using namespace lerobot::checkpoint;

constexpr std::int64_t kElements = 20'000;
constexpr std::int64_t kSteps = 3;

Checkpoint initial() {
  const auto filled = [&] { return at::full({kElements}, 0.0, at::kFloat); };
  Checkpoint out;
  out.model = {{"model.weight", filled()}};
  out.processors =
      load_processors(fs::path(LEROBOT_TEST_DATA) / "checkpoints/act_keypoints/checkpoints/000020/pretrained_model");
  out.optimizer = {{"state/0/exp_avg", filled()}};
  out.optimizer_param_groups = boost::json::array{boost::json::object{{"lr", 0.5}}};
  out.rng = fresh_rng_state(1000);
  out.ema = EmaState{.decay = 0.5, .shadow = {{"model.weight", filled()}}};
  return out;
}

void move_to(Checkpoint& state, std::int64_t step) {
  const auto value = static_cast<double>(step);
  for (Tensors* tensors : {&state.model, &state.optimizer, &state.ema->shadow}) tensors->begin()->second.fill_(value);
  state.position = {
      .step = step, .dp_world_size = 1, .batch_size = 8, .grad_accum_steps = 1, .parallelism = Parallelism{}};
  state.config_json = state.train_config_json = "{\"step\": " + std::to_string(step) + "}";
  state.scaler = boost::json::object{{"scale", value}};
  state.ema->optimization_step = step;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  const fs::path output_dir = argv[1];
  const std::string point = argc == 4 ? argv[2] : "";
  int left = argc == 4 ? std::atoi(argv[3]) : 0;
  const auto reached = [&](std::string_view at) {
    if (at == point && --left == 0) std::raise(SIGKILL);
  };
  CheckpointWriter writer(output_dir, kSteps, {.reached = reached, .symlink = {}});
  const auto latest = find_latest(output_dir);
  const std::int64_t begin = latest ? load(*latest).position.step : 0;
  Checkpoint state = initial();
  BackgroundSave save(writer);
  for (std::int64_t step = begin;; ++step) {
    save.wait_until_read();
    move_to(state, 1 + step % kSteps);
    if (save.in_flight()) {
      save.finish();
      std::puts("saved");
      std::fflush(stdout);
    }
    save.begin(state);
  }
}
