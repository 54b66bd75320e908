#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/file.h"
#include "host/base/ordered_map.h"

namespace lerobot {

/// Element types of the safetensors format that this program reads and writes, in the format's own order (the writer
/// sorts by it).
enum class DType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kFloat16,
  kBFloat16,
  kInt32,
  kFloat32,
  kFloat64,
  kInt64
};

/// Bytes of one element.
std::size_t item_size(DType dtype);
/// The format's own name: BOOL, U8, I64, F32, ...
std::string_view safetensors_name(DType dtype);

/// A tensor in somebody else's memory: row-major, contiguous.
struct TensorView {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;

  std::int64_t elements() const;
};

/// A memory-mapped safetensors file, checked whole before anything is handed out: header length, JSON, offsets in
/// order, inside the file and without gaps, sizes that fit the shapes. Any byte string gives tensors or an Error(kind).
class SafetensorsFile {
 public:
  SafetensorsFile(const std::filesystem::path& path, ErrorKind kind);

  /// Views stay valid as long as this object (or a copy of it) lives.
  const OrderedMap<TensorView>& tensors() const { return tensors_; }
  const OrderedMap<std::string>& metadata() const { return metadata_; }
  /// Throws Error naming the file and the tensor when it is not there.
  const TensorView& at(std::string_view name) const;

 private:
  std::filesystem::path path_;
  ErrorKind kind_;
  std::shared_ptr<MappedFile> file_;
  OrderedMap<TensorView> tensors_;
  OrderedMap<std::string> metadata_;
};

/// Permission bits of a safetensors file: the reference writer's.
inline constexpr unsigned kSafetensorsMode = 0600;

/// Writes a safetensors file durably (fsync), tensors ordered as the reference writer does: by dtype descending, then
/// by name; the header padded with spaces to a multiple of 8.
void write_safetensors(const std::filesystem::path& path, const OrderedMap<TensorView>& tensors,
                       const OrderedMap<std::string>& metadata = {});
/// The same content, for a file that its owner finishes.
void write_safetensors(DurableFile& file, const OrderedMap<TensorView>& tensors,
                       const OrderedMap<std::string>& metadata = {});

}  // namespace lerobot
