#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "host/base/safetensors.h"
#include "host/checkpoint/checkpoint.h"

namespace lerobot::checkpoint {

at::ScalarType scalar_type(DType dtype);

/// The tensors of a safetensors file, copied to CPU memory. Throws Error(kCheckpoint).
Tensors read_tensors(const std::filesystem::path& path);

/// Writes a safetensors file durably; tensors on a device come to the CPU first. Throws Error(kIo), and
/// Error(kInternal) for a dtype the format has no name for.
void write_tensors(const std::filesystem::path& path, const Tensors& tensors,
                   const OrderedMap<std::string>& metadata = {});

/// The bytes of all elements.
std::uint64_t total_bytes(const Tensors& tensors);

}  // namespace lerobot::checkpoint
