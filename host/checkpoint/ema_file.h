#pragma once

#include <cstdint>
#include <filesystem>

#include "host/base/file.h"
#include "host/checkpoint/ema_state.h"

namespace lerobot::checkpoint {

/// Reads `ema_state.pt`, ours or Python's, into CPU memory. Throws Error(kCheckpoint) that names the key when one is
/// missing, of a wrong type or out of range, or when a shadow tensor holds a value that is not finite.
EmaState read_ema_state(const std::filesystem::path& path);

/// The checks of read_ema_state that need not look at the tensors' numbers.
void check_ema_file(const std::filesystem::path& path);

/// Writes the file durably, such that Python's torch.load(weights_only=True) reads it; tensors on a device come to the
/// CPU one at a time. Throws Error(kIo), and Error(kInternal) for a dtype the format has no name for.
void write_ema_state(const std::filesystem::path& path, const EmaState& state);
/// The same content, for a file that its owner finishes.
void write_ema_state(DurableFile& file, const EmaState& state);

/// About how many bytes that takes.
std::uint64_t ema_file_size(const EmaState& state);

}  // namespace lerobot::checkpoint
