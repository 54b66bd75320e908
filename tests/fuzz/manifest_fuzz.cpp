// Any bytes as a manifest: an Error or a manifest that keeps its promises.
#include <filesystem>
#include <string_view>

#include "host/accel/manifest.h"
#include "host/base/error.h"
#include "tests/fuzz/fuzz.h"

namespace {

using lerobot::accel::Manifest;
using lerobot::test::require;

/// One line of plain text.
void require_text(const std::string& text) {
  require(text.size() <= 256);
  for (const unsigned char c : text) require(c >= 0x20 && c != 0x7f);
}

void require_inside(const std::string& text) {
  require_text(text);
  const std::filesystem::path path(text);
  require(path.is_relative() && !text.empty());
  for (const auto& part : path) require(part != ".." && part != ".");
}

void require_sound(const Manifest& manifest) {
  for (const std::string* text : {&manifest.id, &manifest.name, &manifest.version, &manifest.torch_version}) {
    require_text(*text);
  }
  require(!manifest.id.empty() && manifest.id.find('/') == std::string::npos);
  for (const std::string& path : manifest.preload) require_inside(path);
  for (const std::string& name : manifest.torch_libraries) {
    require_inside(name);
    require(name.find('/') == std::string::npos);
  }
  for (const auto& [path, hash] : manifest.sha256) {
    require_inside(path);
    require(hash.size() == 64);
  }
  for (const std::string& name : manifest.visible_devices) require_text(name);
  if (manifest.kind == Manifest::Kind::kTorch) return;
  require_inside(manifest.library);
  if (manifest.probe) require_inside(*manifest.probe);
  require(!manifest.device_types.empty());
  require(manifest.abi.major_min >= 1 && manifest.abi.major_min <= manifest.abi.major_max);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    require_sound(lerobot::accel::parse_manifest({reinterpret_cast<const char*>(data), size}));
  } catch (const lerobot::Error& error) {
    require(error.kind() == lerobot::ErrorKind::kDevice);
  }
  return 0;
}
