// checkpoint_saver OUTPUT_DIR [POINT COUNT]: resumes from the newest checkpoint in OUTPUT_DIR, or begins at step 0, and
// saves after every step. With POINT it kills itself when it reaches that point of a save for the COUNT-th time.
// Every tensor of a checkpoint holds its step, so that a mixture of two is seen. Steps past 3 begin again at 1: then a
// directory of that step is there already.

#include <ATen/ops/full.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "host/checkpoint/loader.h"
#include "host/checkpoint/rng_state.h"
#include "host/checkpoint/writer.h"

namespace {

namespace fs = std::filesystem;
using namespace lerobot::checkpoint;

constexpr std::int64_t kElements = 20'000;
constexpr std::int64_t kSteps = 3;

Checkpoint at_step(std::int64_t step, Tensors rng) {
  const auto filled = [&] { return at::full({kElements}, static_cast<double>(step), at::kFloat); };
  Checkpoint out;
  out.position = {
      .step = step, .dp_world_size = 1, .batch_size = 8, .grad_accum_steps = 1, .parallelism = Parallelism{}};
  out.config_json = out.train_config_json = "{\"step\": " + std::to_string(step) + "}";
  out.model = {{"model.weight", filled()}};
  out.processors =
      load_processors(fs::path(LEROBOT_TEST_DATA) / "checkpoints/act_keypoints/checkpoints/000020/pretrained_model");
  out.optimizer = {{"state/0/exp_avg", filled()}};
  out.optimizer_param_groups = boost::json::array{boost::json::object{{"lr", 0.5}}};
  out.rng = std::move(rng);
  out.scaler = boost::json::object{{"scale", static_cast<double>(step)}};
  out.ema = EmaState{.decay = 0.5, .optimization_step = step, .shadow = {{"model.weight", filled()}}};
  return out;
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
  Tensors rng = fresh_rng_state(1000);
  for (std::int64_t step = begin;; ++step) {
    writer.save(at_step(1 + step % kSteps, rng));
    std::puts("saved");
    std::fflush(stdout);
  }
}
