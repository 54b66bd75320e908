#pragma once

#include <cstdint>

namespace lerobot::train {

/// Seeds torch's generators on every device, as torch.manual_seed does.
void seed_everything(std::int64_t seed);

/// The one number that Python's data loader takes from the CPU generator whenever it makes an epoch's iterator (the
/// base seed of its workers). Nothing here uses the number; drawing it keeps dropout and VAE noise in step with
/// Python's.
void draw_loader_seed();

}  // namespace lerobot::train
