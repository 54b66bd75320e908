#include "host/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace lerobot {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_write(const fs::path& path, const char* what, int error, std::size_t needed) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    fail(ErrorKind::kIo,
         "{}: cannot {}: {} ({} more bytes needed, {} free). Make room, or choose another --output_dir.", path.string(),
         what, std::strerror(error), needed, free_bytes(path));
  }
  fail(ErrorKind::kIo, "{}: cannot {}: {}", path.string(), what, std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

}  // namespace

std::string read_text(const fs::path& path, ErrorKind kind) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (!fs::exists(status)) fail(kind, "{}: no such file", path.string());
  if (fs::is_directory(status)) fail(kind, "{}: is a directory, a file is needed", path.string());
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(kind, "{}: cannot be read: {}", path.string(), std::strerror(errno));
  std::ostringstream out;
  out << in.rdbuf();
  if (in.bad()) fail(kind, "{}: reading failed: {}", path.string(), std::strerror(errno));
  return std::move(out).str();
}

void write_durable(const fs::path& path, std::string_view content, unsigned mode) {
  DurableFile file(path, mode);
  file.write(content.data(), content.size());
  file.finish();
}

void replace_durable(const fs::path& path, std::string_view content) {
  fs::path temporary = path;
  temporary += ".tmp";
  write_durable(temporary, content);
  std::error_code ec;
  fs::rename(temporary, path, ec);
  if (ec) fail(ErrorKind::kIo, "{}: cannot be renamed into place: {}", path.string(), ec.message());
  sync_directory(path.parent_path());
}

void sync_directory(const fs::path& directory) {
  const Descriptor descriptor(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) {
    fail(ErrorKind::kIo, "{}: cannot be opened: {}", directory.string(), std::strerror(errno));
  }
  // Some file systems (network shares) cannot flush a directory: EINVAL there is not a failed save.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    fail(ErrorKind::kIo, "{}: cannot be flushed to disk: {}", directory.string(), std::strerror(errno));
  }
}

std::uintmax_t free_bytes(const fs::path& path) {
  std::error_code ec;
  for (fs::path at = fs::absolute(path, ec); !at.empty(); at = at.parent_path()) {
    const fs::space_info info = fs::space(at, ec);
    if (!ec) return info.available;
    if (at == at.root_path()) break;
  }
  return 0;
}

MappedFile::MappedFile(const fs::path& path, ErrorKind kind) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) fail(kind, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    fail(kind, "{}: is not a regular file", path.string());
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (mapped == MAP_FAILED) fail(kind, "{}: cannot be mapped: {}", path.string(), std::strerror(errno));
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

DurableFile::DurableFile(const fs::path& path, unsigned mode) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, static_cast<mode_t>(mode));
  if (descriptor_ < 0) fail_write(path, "be created", errno, 0);
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DurableFile::write(const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, at, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_write(path_, "be written", errno, size);
    }
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

void DurableFile::finish() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_write(path_, "be flushed to disk", errno, 0);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_write(path_, "be closed", errno, 0);
}

}  // namespace lerobot
