#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lerobot {

/// SHA-1 or SHA-256 (FIPS 180-4) of bytes that come in pieces.
class Digest {
 public:
  static Digest sha1();
  static Digest sha256();

  void add(std::string_view bytes);
  /// Of all bytes so far: 40 or 64 lower-case hex digits.
  std::string hex() const;

 private:
  static constexpr std::size_t kBlock = 64;
  using State = std::array<std::uint32_t, 8>;  ///< SHA-1 uses five
  using AddBlock = void (*)(State&, const unsigned char*);

  Digest(const State& initial, std::size_t words, AddBlock add_block)
      : state_(initial), words_(words), add_block_(add_block) {}

  State state_;
  std::size_t words_;
  AddBlock add_block_;
  std::uint64_t size_ = 0;
  std::array<unsigned char, kBlock> rest_{};  ///< the bytes after the last whole block
};

}  // namespace lerobot
