#include "host/checkpoint/zip_writer.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <utility>

#include "host/checkpoint/zip_format.h"

namespace lerobot::checkpoint {

using namespace zip;

namespace {

constexpr std::uint64_t kEnd64Size = 44;  // of the record, without its first 12 bytes
constexpr std::uint16_t kVersion = 45;    // of the format: the one that has zip64
constexpr std::uint16_t kUtf8Names = 0x0800;
constexpr std::uint16_t kPaddingField = 0x4246;  // torch's "FB"
constexpr std::uint16_t kEarliestDate = 0x0021;  // 1 January 1980: equal content gives equal files
constexpr std::uint16_t kManyEntries = 0xFFFF;
constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kFieldHeader = 4;
constexpr std::size_t kAlignment = 64;

template <class Number>
void put(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class... Numbers>
void put_all(std::string& out, Numbers... values) {
  (put(out, values), ...);
}

/// What stands in the field of 32 bits when the number itself stands in the zip64 field.
std::uint32_t short_form(std::uint64_t value, bool large) {
  return large ? kInZip64 : static_cast<std::uint32_t>(value);
}

}  // namespace

void ZipWriter::add(std::string name, Bytes content) {
  boost::crc_32_type checksum;
  checksum.process_bytes(content.data(), content.size());
  entries_.push_back({.name = std::move(name), .checksum = checksum.checksum(), .size = content.size(), .header = at_});
  write(local_header(entries_.back()));
  write({reinterpret_cast<const char*>(content.data()), content.size()});
}

void ZipWriter::add(std::string name, std::string_view content) {
  add(std::move(name), std::as_bytes(std::span(content)));
}

void ZipWriter::finish() {
  const std::uint64_t begin = at_;
  for (const Entry& entry : entries_) write(directory_record(entry));
  write(directory_end(begin));
}

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes.data(), bytes.size());
  at_ += bytes.size();
}

std::string ZipWriter::local_header(const Entry& entry) const {
  std::string extra;
  const bool large = is_large(entry.size);
  if (large) put_all(extra, kZip64Field, std::uint16_t{16}, entry.size, entry.size);
  const std::uint64_t unpadded = entry.header + kLocalHeaderSize + entry.name.size() + extra.size() + kFieldHeader;
  const auto padding = static_cast<std::uint16_t>((kAlignment - unpadded % kAlignment) % kAlignment);
  put_all(extra, kPaddingField, padding);
  extra.append(padding, 'Z');

  std::string out;
  put_all(out, kLocalHeader, kVersion, kUtf8Names, /*method=*/std::uint16_t{0}, /*time=*/std::uint16_t{0},
          kEarliestDate, entry.checksum, short_form(entry.size, large), short_form(entry.size, large),
          static_cast<std::uint16_t>(entry.name.size()), static_cast<std::uint16_t>(extra.size()));
  return out + entry.name + extra;
}

std::string ZipWriter::directory_record(const Entry& entry) const {
  std::string numbers;
  const bool large = is_large(entry.size);
  const bool far = is_large(entry.header);
  if (large) put_all(numbers, entry.size, entry.size);
  if (far) put(numbers, entry.header);
  std::string extra;
  if (!numbers.empty()) put_all(extra, kZip64Field, static_cast<std::uint16_t>(numbers.size()));
  extra += numbers;

  std::string out;
  put_all(out, kCentralHeader, /*made by=*/kVersion, kVersion, kUtf8Names, /*method=*/std::uint16_t{0},
          /*time=*/std::uint16_t{0}, kEarliestDate, entry.checksum, short_form(entry.size, large),
          short_form(entry.size, large), static_cast<std::uint16_t>(entry.name.size()),
          static_cast<std::uint16_t>(extra.size()), /*comment=*/std::uint16_t{0}, /*disk=*/std::uint16_t{0},
          /*attributes=*/std::uint16_t{0}, std::uint32_t{0}, short_form(entry.header, far));
  return out + entry.name + extra;
}

std::string ZipWriter::directory_end(std::uint64_t begin) const {
  const std::uint64_t size = at_ - begin;
  const std::uint64_t count = entries_.size();
  const bool many = count >= kManyEntries;
  std::string out;
  if (many || is_large(size) || is_large(begin)) {
    put_all(out, kEnd64, kEnd64Size, kVersion, kVersion, /*disk=*/std::uint32_t{0}, std::uint32_t{0}, count, count,
            size, begin);
    put_all(out, kEnd64Locator, /*disk=*/std::uint32_t{0}, at_, /*disks=*/std::uint32_t{1});
  }
  const std::uint16_t entries = many ? kManyEntries : static_cast<std::uint16_t>(count);
  put_all(out, kEnd, /*disk=*/std::uint16_t{0}, std::uint16_t{0}, entries, entries, short_form(size, is_large(size)),
          short_form(begin, is_large(begin)), /*comment=*/std::uint16_t{0});
  return out;
}

}  // namespace lerobot::checkpoint
