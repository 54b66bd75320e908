#include "host/check/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace lerobot::check {

Buffer::Buffer(const std::vector<std::byte>& content, Kind kind) : size_(content.size()) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t room = (size_ + page - 1) / page * page;
  mapped_ = room + page;  // the last page is the guard, or room for who reads on
  void* mapping = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  data_ = mapping_;
  if (kind == Kind::kGuarded) {
    ::mprotect(mapping_ + room, page, PROT_NONE);
    data_ += room - size_;
  }
  std::ranges::copy(content, data_);
}

Buffer::~Buffer() {
  if (mapping_) ::munmap(mapping_, mapped_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      size_(other.size_) {}

}  // namespace lerobot::check
