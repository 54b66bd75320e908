#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace lerobot::test {

/// Reads values off a fuzzer's input; zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  template <typename Value>
  Value take() {
    Value value{};
    bytes(&value, sizeof value);
    return value;
  }

  void bytes(void* destination, std::size_t count) {
    const std::size_t there = count < size_ ? count : size_;
    if (there != 0) std::memcpy(destination, data_, there);
    data_ += there;
    size_ -= there;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// A struct of a caller from another version: exactly as many bytes as its struct_size says, so that a sanitizer sees
/// every access past them, filled from the input. (Sizes that the contract refuses unread are not all allocated.)
template <typename Struct>
class ForeignStruct {
 public:
  ForeignStruct(Input& input, bool zeroed) {
    const std::uint32_t claimed = input.take<std::uint16_t>() + (input.take<std::uint8_t>() == 0xff ? 0x10000U : 0U);
    size_ = claimed < sizeof(std::uint32_t) ? sizeof(std::uint32_t) : claimed;
    memory_ = std::make_unique<char[]>(size_);
    if (!zeroed) input.bytes(memory_.get(), size_);
    std::memcpy(memory_.get(), &claimed, sizeof claimed);
    before_.assign(memory_.get(), memory_.get() + size_);
  }

  Struct* get() { return reinterpret_cast<Struct*>(memory_.get()); }
  std::size_t size() const { return size_; }

  /// Whether a field lies inside the memory.
  bool has(std::size_t end_of_field) const { return end_of_field <= size_; }

  /// Nothing was written since the last call of `settle` (or the start).
  bool untouched() const { return std::memcmp(before_.data(), memory_.get(), size_) == 0; }
  void settle() { before_.assign(memory_.get(), memory_.get() + size_); }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<char[]> memory_;
  std::vector<char> before_;
};

/// Text for a pointer-and-length pair: null, or memory of exactly the length.
class ForeignText {
 public:
  explicit ForeignText(Input& input) {
    const auto kind = input.take<std::uint8_t>();
    size_ = kind % 64;
    if (kind >= 192) return;  // null, and perhaps a length all the same
    memory_ = std::make_unique<char[]>(size_ == 0 ? 1 : size_);
    input.bytes(memory_.get(), size_);
  }
  void give(const char*& pointer, std::uint64_t& size) const {
    pointer = memory_.get();
    size = size_;
  }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<char[]> memory_;
};

template <std::size_t N>
void require_terminated(const char (&text)[N]) {
  require(std::memchr(text, 0, N) != nullptr);
}

}  // namespace lerobot::test
