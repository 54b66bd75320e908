#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "host/base/file.h"
#include "host/base/safetensors.h"
#include "host/checkpoint/checkpoint.h"

namespace lerobot::checkpoint {

at::ScalarType scalar_type(DType dtype);
/// The reverse. Throws Error(kInternal) for a dtype that files have no name for; `name` is the tensor's.
DType file_type(std::string_view name, at::ScalarType type);

/// The tensors of a safetensors file, copied to CPU memory. Throws Error(kCheckpoint).
Tensors read_tensors(const std::filesystem::path& path);

/// Writes a safetensors file durably; tensors on a device come to the CPU first. Throws Error(kIo), and
/// Error(kInternal) for a dtype the format has no name for.
void write_tensors(const std::filesystem::path& path, const Tensors& tensors,
                   const OrderedMap<std::string>& metadata = {});
/// The same content, for a file that its owner finishes.
void write_tensors(DurableFile& file, const Tensors& tensors, const OrderedMap<std::string>& metadata = {});

/// The tensor in CPU memory, row-major; itself when it lies there so.
at::Tensor on_host(const at::Tensor& tensor);

/// The bytes of all elements.
std::uint64_t total_bytes(const Tensors& tensors);

}  // namespace lerobot::checkpoint
