#include "host/accel/sha256.h"

#include "host/base/digest.h"
#include "host/base/file.h"

namespace lerobot::accel {

std::string sha256_file(const std::filesystem::path& path) {
  const MappedFile file(path, ErrorKind::kDevice);
  Digest digest = Digest::sha256();
  digest.add({reinterpret_cast<const char*>(file.data()), file.size()});
  return digest.hex();
}

}  // namespace lerobot::accel
