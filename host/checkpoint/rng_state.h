#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "host/checkpoint/checkpoint.h"

namespace lerobot::checkpoint {

/// The entries of rng_state.safetensors for a run that starts: the state that Python's `random` and numpy have right
/// after seeding, and that of torch's CPU generator as it is now. Training draws from torch alone, so the first six
/// entries never change. Without a seed they are seeded at random. Source: MT19937, Matsumoto and Nishimura 1998;
/// init_by_array for Python, init_genrand for numpy.
Tensors fresh_rng_state(std::optional<std::int64_t> seed);

/// Replaces the entry of torch's CPU generator by its present state, and that of `device` if it is another one. Device
/// entries of an earlier moment are dropped.
void record_torch_rng(Tensors& rng, const at::Device& device = at::kCPU);

/// Puts torch's CPU generator into the recorded state, and that of `device` if it was recorded (else a warning says
/// that it was not). Throws Error(kCheckpoint).
void restore_torch_rng(const Tensors& rng, const at::Device& device = at::kCPU);

/// Throws Error(kCheckpoint) naming the entry that is missing or has another dtype or shape than LeRobot reads.
void check_rng_state(const Tensors& rng, const std::filesystem::path& path);

}  // namespace lerobot::checkpoint
