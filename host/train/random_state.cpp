#include "host/train/random_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/ops/empty.h>

namespace lerobot::train {

void seed_everything(std::int64_t seed) { at::manual_seed(static_cast<std::uint64_t>(seed)); }

at::Tensor cpu_generator_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  return generator.get_state();
}

void set_cpu_generator_state(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(state);
}

void draw_loader_seed() { at::empty({}, at::kLong).random_(); }

}  // namespace lerobot::train
