#include "host/checkpoint/zip_archive.h"

#include <algorithm>
#include <cstring>

#include "host/base/error.h"
#include "host/checkpoint/zip_format.h"

namespace lerobot::checkpoint {

using namespace zip;

namespace {

constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kLongestComment = 0xFFFF;
constexpr std::uint64_t kMostEntries = 1'000'000;

/// Little-endian numbers at checked offsets.
class ZipReader {
 public:
  ZipReader(Bytes bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  OrderedMap<Bytes> read() const {
    const Directory directory = find_directory();
    if (directory.entries > kMostEntries)
      complain(format("{} entries, at most {} are read", directory.entries, kMostEntries));
    OrderedMap<Bytes> out;
    std::uint64_t at = directory.offset;
    for (std::uint64_t i = 0; i < directory.entries; ++i) at = read_entry(at, out);
    return out;
  }

 private:
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t entries = 0;
  };

  [[noreturn]] void complain(const std::string& what) const {
    fail(ErrorKind::kCheckpoint, "{}: not a whole zip archive of torch.save: {}", name_, what);
  }

  Bytes slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      complain(format("{} bytes at {} lie outside its {} bytes (truncated?)", size, offset, bytes_.size()));
    }
    return bytes_.subspan(offset, size);
  }

  template <class Number>
  Number number(std::uint64_t offset) const {
    Number out{};
    std::memcpy(&out, slice(offset, sizeof out).data(), sizeof out);
    return out;
  }

  Directory find_directory() const {
    const std::size_t size = bytes_.size();
    if (size < kEndSize) complain(format("{} bytes", size));
    const std::size_t lowest = size - std::min(size, kEndSize + kLongestComment);
    std::size_t end = size - kEndSize;
    while (number<std::uint32_t>(end) != kEnd) {
      if (end == lowest) complain("its directory at the end is missing (truncated?)");
      --end;
    }
    Directory out{.offset = number<std::uint32_t>(end + 16), .entries = number<std::uint16_t>(end + 10)};
    if (end >= kLocatorSize && number<std::uint32_t>(end - kLocatorSize) == kEnd64Locator) {
      const auto end64 = number<std::uint64_t>(end - kLocatorSize + 8);
      if (number<std::uint32_t>(end64) != kEnd64) complain("its zip64 directory is missing");
      out.entries = number<std::uint64_t>(end64 + 32);
      out.offset = number<std::uint64_t>(end64 + 48);
    }
    return out;
  }

  /// Adds the entry whose directory record is at `at`; returns where the next record begins.
  std::uint64_t read_entry(std::uint64_t at, OrderedMap<Bytes>& out) const {
    slice(at, 46);
    if (number<std::uint32_t>(at) != kCentralHeader) complain(format("no directory record at {}", at));
    const auto flags = number<std::uint16_t>(at + 8);
    const auto method = number<std::uint16_t>(at + 10);
    std::uint64_t compressed = number<std::uint32_t>(at + 20);
    std::uint64_t size = number<std::uint32_t>(at + 24);
    const auto name_size = number<std::uint16_t>(at + 28);
    const auto extra_size = number<std::uint16_t>(at + 30);
    const auto comment_size = number<std::uint16_t>(at + 32);
    std::uint64_t header = number<std::uint32_t>(at + 42);
    const Bytes raw = slice(at + 46, name_size);
    std::string name(reinterpret_cast<const char*>(raw.data()), raw.size());
    read_zip64(at + 46 + name_size, extra_size, size, compressed, header);
    if (flags & 1U) complain(format("{} is encrypted", name));
    if (method != 0 || compressed != size)
      complain(format("{} is compressed, torch.save stores without compression", name));
    slice(header, 30);
    if (number<std::uint32_t>(header) != kLocalHeader) complain(format("{} has no header at {}", name, header));
    const std::uint64_t data = header + 30 + number<std::uint16_t>(header + 26) + number<std::uint16_t>(header + 28);
    out.append(std::move(name), slice(data, size));
    return at + 46 + name_size + extra_size + comment_size;
  }

  /// Numbers that do not fit 32 bits stand in the extra field, in this order, each only if it does not fit.
  void read_zip64(std::uint64_t at, std::uint64_t left, std::uint64_t& size, std::uint64_t& compressed,
                  std::uint64_t& header) const {
    slice(at, left);
    while (left >= 4) {
      const auto id = number<std::uint16_t>(at);
      const std::uint64_t field = number<std::uint16_t>(at + 2);
      if (field > left - 4) return;
      if (id == kZip64Field) {
        std::uint64_t value = at + 4;
        for (std::uint64_t* each : {&size, &compressed, &header}) {
          if (*each != kInZip64 || value + 8 > at + 4 + field) continue;
          *each = number<std::uint64_t>(value);
          value += 8;
        }
        return;
      }
      at += 4 + field;
      left -= 4 + field;
    }
  }

  Bytes bytes_;
  std::string_view name_;
};

}  // namespace

bool is_zip(Bytes bytes) {
  std::uint32_t signature = 0;
  if (bytes.size() < sizeof signature) return false;
  std::memcpy(&signature, bytes.data(), sizeof signature);
  return signature == kLocalHeader;
}

OrderedMap<Bytes> read_stored_zip(Bytes bytes, std::string_view name) {
  return ZipReader(bytes, name).read();
}

}  // namespace lerobot::checkpoint
