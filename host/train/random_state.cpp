#include "host/train/random_state.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

namespace lerobot::train {

void seed_everything(std::int64_t seed) {
  at::manual_seed(static_cast<std::uint64_t>(seed));
}

void draw_loader_seed() {
  at::empty({}, at::kLong).random_();
}

}  // namespace lerobot::train
