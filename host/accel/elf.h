#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lerobot::accel {

/// What the loader will read from a shared library, read without loading it.
struct ElfInfo {
  std::string architecture;  ///< as manifests write it ("x86_64", "aarch64"), or "machine 243"
  std::vector<std::string> needed;
  std::vector<std::string> search_path;  ///< RUNPATH or RPATH, $ORIGIN replaced
};

/// Reads a 64-bit little-endian shared library; every offset is checked against the file, so any byte string gives an
/// answer or Error(kDevice) with one line that names the file.
ElfInfo read_elf(const std::filesystem::path& path);

/// The names of the symbols that a shared library defines for others, sorted. As read_elf: every offset is checked, and
/// Error(kDevice) names the file; also when its section headers were stripped.
std::vector<std::string> exported_symbols(const std::filesystem::path& path);

/// The architecture this program was compiled for, as manifests write it.
std::string own_architecture();

}  // namespace lerobot::accel
