#include "host/report/event_file.h"

#include <unistd.h>

#include <array>
#include <boost/crc.hpp>
#include <chrono>
#include <cstring>

#include "host/base/error.h"

namespace lerobot::report {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::uint32_t masked_crc32c(std::string_view data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(data.data(), data.size());
  const std::uint32_t sum = crc.checksum();
  return ((sum >> 15U) | (sum << 17U)) + 0xA282EAD8U;
}

template <class T>
void append_raw(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

// Protocol-buffer fields: a tag is (field number << 3) | wire type.
void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
  append_varint(out, (field << 3U) | 2U);
  append_varint(out, bytes.size());
  out += bytes;
}
void append_double(std::string& out, unsigned field, double value) {
  append_varint(out, (field << 3U) | 1U);
  append_raw(out, value);
}
void append_float(std::string& out, unsigned field, float value) {
  append_varint(out, (field << 3U) | 5U);
  append_raw(out, value);
}
void append_int(std::string& out, unsigned field, std::int64_t value) {
  append_varint(out, field << 3U);
  append_varint(out, static_cast<std::uint64_t>(value));
}

std::string event_head(double wall_time) {
  std::string event;
  append_double(event, 1, wall_time);
  return event;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& directory) {
  std::error_code ec;
  std::filesystem::create_directories(directory, ec);
  const double time = now();
  path_ = directory / format("events.out.tfevents.{}.{}.{}", static_cast<std::int64_t>(time), host_name(), ::getpid());
  out_.open(path_, std::ios::binary);
  if (!out_) fail(ErrorKind::kIo, "{}: cannot be created: {}", path_.string(), std::strerror(errno));
  std::string event = event_head(time);
  append_bytes(event, 3, "brain.Event:2");
  write_record(event);
  out_.flush();
}

void EventFile::write(std::int64_t step, std::string_view prefix, const boost::json::object& record) {
  std::string summary;
  for (const auto& [name, value] : record) {
    if (!value.is_number()) continue;
    std::string scalar;
    append_bytes(scalar, 1, std::string(prefix) + "/" + std::string(std::string_view(name)));
    append_float(scalar, 2, value.to_number<float>());
    append_bytes(summary, 1, scalar);
  }
  std::string event = event_head(now());
  append_int(event, 2, step);
  append_bytes(event, 5, summary);
  write_record(event);
  out_.flush();
}

void EventFile::write_record(const std::string& payload) {
  std::string length;
  append_raw(length, static_cast<std::uint64_t>(payload.size()));
  std::string framed = length;
  append_raw(framed, masked_crc32c(length));
  framed += payload;
  append_raw(framed, masked_crc32c(payload));
  out_.write(framed.data(), static_cast<std::streamsize>(framed.size()));
}

}  // namespace lerobot::report
