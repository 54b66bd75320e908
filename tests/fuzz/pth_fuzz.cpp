// Any bytes as a file of torch.save: an Error, or tensors whose storages the file holds.
#include <string>

#include "host/base/error.h"
#include "host/checkpoint/pth_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lerobot::test::require;
  static const lerobot::MemoryFile file;
  file.set({reinterpret_cast<const char*>(data), size});
  try {
    const lerobot::checkpoint::PthFile pth(file.path());
    for (const auto& [name, tensor] : pth.tensors()) {
      const lerobot::checkpoint::Bytes storage = pth.storage(tensor, name);
      require(storage.size() <= size);
      require(storage.size() >=
              static_cast<std::size_t>(tensor.storage.elements) * lerobot::item_size(tensor.storage.dtype));
      require(tensor.shape.size() == tensor.strides.size());
      volatile unsigned sum = 0;
      for (const std::byte byte : storage) sum = sum + std::to_integer<unsigned>(byte);
    }
  } catch (const lerobot::Error& error) {
    require(error.kind() == lerobot::ErrorKind::kCheckpoint);
  }
  return 0;
}
