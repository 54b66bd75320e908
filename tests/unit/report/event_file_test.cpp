#include "host/report/event_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace lerobot::report {
namespace {

template <class T>
T read_raw(const std::string& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

TEST(EventFile, WritesRecordsThatTensorBoardReads) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "event_file";
  std::filesystem::remove_all(directory);
  EventFile file(directory);
  file.write(300, "train", {{"loss", 0.5}});
  std::ifstream in(file.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());

  // First record: the version. Length 24 = double (9) + "brain.Event:2" (2 + 13); the length's masked CRC32C is a
  // constant that every event file begins with.
  EXPECT_EQ(read_raw<std::uint64_t>(bytes, 0), 24U);
  EXPECT_EQ(read_raw<std::uint32_t>(bytes, 8), 0x224B7FA3U);
  EXPECT_EQ(bytes.substr(12 + 9 + 2, 13), "brain.Event:2");

  const std::size_t second = 12 + 24 + 4;
  const std::string payload = bytes.substr(second + 12, read_raw<std::uint64_t>(bytes, second));
  EXPECT_EQ(payload.size() + second + 16, bytes.size());
  EXPECT_EQ(payload.substr(9, 3), std::string("\x10\xAC\x02"));                  // step 300 as a varint
  EXPECT_EQ(payload.substr(12, 2), std::string("\x2A\x13"));                     // summary, 19 bytes
  EXPECT_EQ(payload.substr(14, 14), std::string("\x0A\x11\x0A\x0Atrain/loss"));  // one value with its tag
  EXPECT_EQ(payload[28], '\x15');
  EXPECT_EQ(read_raw<float>(payload, 29), 0.5F);
}

}  // namespace
}  // namespace lerobot::report
