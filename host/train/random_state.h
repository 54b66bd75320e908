#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lerobot::train {

/// Seeds torch's generators on every device, as torch.manual_seed does.
void seed_everything(std::int64_t seed);

/// The state of the CPU generator: uint8 [5056], what rng_state.safetensors keeps as torch_rng_state.
at::Tensor cpu_generator_state();
void set_cpu_generator_state(const at::Tensor& state);

/// The one number that Python's data loader takes from the CPU generator whenever it makes an epoch's iterator (the base
/// seed of its workers). Nothing here uses the number; drawing it keeps dropout and VAE noise in step with Python's.
void draw_loader_seed();

}  // namespace lerobot::train
