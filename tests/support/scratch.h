#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace lerobot {

/// A test with an empty directory of its own, which is removed at its end.
class ScratchTest : public ::testing::Test {
 protected:
  ScratchTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lerobot-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
    scratch_ = pattern;
  }
  ~ScratchTest() override {
    std::error_code ec;
    std::filesystem::remove_all(scratch_, ec);
  }
  const std::filesystem::path& scratch() const { return scratch_; }

 private:
  std::filesystem::path scratch_;
};

/// A file without a disk, for tests that write it a hundred thousand times.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("lerobot-test", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("no memory file");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void set(const std::string& content) const {
    const auto size = static_cast<off_t>(content.size());
    if (::ftruncate(descriptor_, size) != 0 || ::pwrite(descriptor_, content.data(), content.size(), 0) != size) {
      throw std::runtime_error("the memory file cannot be written");
    }
  }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace lerobot
