// Any bytes as a safetensors file: an Error, or tensors that lie inside it.
#include <numeric>
#include <string>

#include "host/base/error.h"
#include "host/base/safetensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lerobot::test::require;
  static const lerobot::MemoryFile file;
  file.set({reinterpret_cast<const char*>(data), size});
  try {
    const lerobot::SafetensorsFile tensors(file.path(), lerobot::ErrorKind::kCheckpoint);
    std::size_t bytes = 0;
    for (const auto& [name, view] : tensors.tensors()) {
      require(static_cast<std::size_t>(view.elements()) * lerobot::item_size(view.dtype) == view.bytes);
      bytes += view.bytes;
      // Reads them all: a view that leaves the file is a fault.
      volatile unsigned sum = 0;
      for (std::size_t i = 0; i < view.bytes; ++i) sum = sum + std::to_integer<unsigned>(view.data[i]);
    }
    require(bytes <= size);
  } catch (const lerobot::Error& error) {
    require(error.kind() == lerobot::ErrorKind::kCheckpoint);
  }
  return 0;
}
