#include "host/base/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <random>

#include "host/base/file.h"
#include "tests/support/scratch.h"

namespace lerobot {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;

/// The bytes of a file with this header, its length in front.
std::string file_bytes(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &size, 8);
  return out + header + data;
}

const std::string kTwo = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";
const std::string kTwoData = "01234567abc";

class Safetensors : public ScratchTest {
 protected:
  /// What the reader says about a file of these bytes, "read" if it likes it.
  std::string verdict(const std::string& bytes) {
    const fs::path path = scratch() / "weights.safetensors";
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      const SafetensorsFile file(path, ErrorKind::kCheckpoint);
      touch(file);
      return "read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      EXPECT_THAT(error.what(), HasSubstr("weights.safetensors"));
      return error.what();
    }
  }

  /// Reads every byte that the file hands out.
  static void touch(const SafetensorsFile& file) {
    unsigned sum = 0;
    for (const auto& [name, view] : file.tensors()) {
      ASSERT_EQ(static_cast<std::uint64_t>(view.elements()) * item_size(view.dtype), view.bytes);
      for (std::size_t i = 0; i < view.bytes; ++i) sum += std::to_integer<unsigned>(view.data[i]);
    }
    volatile unsigned keep = sum;
    (void)keep;
  }
};

TEST_F(Safetensors, ReadsTensorsAndMetadata) {
  const fs::path path = scratch() / "x.safetensors";
  std::ofstream(path, std::ios::binary) << file_bytes(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}  )", "\1\0\0\0\0\0\0\0"s);
  const SafetensorsFile file(path, ErrorKind::kCheckpoint);
  EXPECT_EQ(*file.metadata().find("format"), "pt");
  EXPECT_EQ(file.at("a").dtype, DType::kInt64);
  EXPECT_TRUE(file.at("a").shape.empty());
  EXPECT_EQ(file.at("a").elements(), 1);
  EXPECT_EQ(std::to_integer<int>(file.at("a").data[0]), 1);
  EXPECT_THAT([&] { file.at("b"); },
              ::testing::ThrowsMessage<Error>(AllOf(HasSubstr("x.safetensors"), HasSubstr("named b"))));
}

TEST_F(Safetensors, RefusesAFileCutAnywhereAndTellsTheBytes) {
  const std::string whole = file_bytes(kTwo, kTwoData);
  ASSERT_EQ(verdict(whole), "read");
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(verdict(whole.substr(0, size)), "read") << size;
  EXPECT_THAT(verdict(whole.substr(0, 4)), HasSubstr("4 bytes, at least 8 are needed"));
  EXPECT_THAT(verdict(whole.substr(0, 20)), HasSubstr(format("should hold {} bytes, the file has 12", kTwo.size())));
  EXPECT_THAT(verdict(whole.substr(0, whole.size() - 1)),
              HasSubstr("tensor b lies at bytes 8 to 11, the file holds 10"));
  EXPECT_THAT(verdict(whole + "x"), HasSubstr("1 bytes after the last tensor"));
}

TEST_F(Safetensors, RefusesAHugeHeaderLength) {
  std::string bytes = file_bytes(kTwo, kTwoData);
  bytes[7] = '\x80';
  EXPECT_THAT(verdict(bytes), HasSubstr("exceeds the limit of 100000000"));
  bytes = std::string(8, '\xff');
  EXPECT_THAT(verdict(bytes), HasSubstr("exceeds the limit"));
}

TEST_F(Safetensors, RefusesOffsetsThatOverlapLeaveGapsOrRunBackwards) {
  const auto two = [](const std::string& a, const std::string& b) {
    return file_bytes(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + a +
                          R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                      "01234567");
  };
  EXPECT_EQ(verdict(two("[0,4]", "[4,8]")), "read");
  EXPECT_EQ(verdict(two("[4,8]", "[0,4]")), "read");
  EXPECT_THAT(verdict(two("[0,4]", "[0,4]")), HasSubstr("overlap or leave gaps"));
  EXPECT_THAT(verdict(two("[0,4]", "[3,7]")), HasSubstr("overlap or leave gaps"));
  EXPECT_THAT(verdict(two("[1,5]", "[4,8]")), HasSubstr("overlap or leave gaps"));
  EXPECT_THAT(verdict(two("[0,4]", "[8,4]")), HasSubstr("lies at bytes 8 to 4"));
  EXPECT_THAT(verdict(two("[0,4]", "[4,18446744073709551615]")), HasSubstr("tensor b lies at bytes"));
  EXPECT_THAT(verdict(two("[0,4]", "[4,7]")), HasSubstr("has 3 bytes, its shape needs 4"));
  EXPECT_THAT(verdict(two("[-4,0]", "[4,8]")), HasSubstr("not a natural number"));
  EXPECT_THAT(verdict(two("[0]", "[4,8]")), HasSubstr("lacks dtype, shape or data_offsets"));
}

TEST_F(Safetensors, RefusesStrangeHeaders) {
  const auto one = [](const std::string& entry) { return file_bytes(R"({"a":)" + entry + "}", ""); };
  EXPECT_THAT(verdict(one(R"({"dtype":"F8","shape":[0],"data_offsets":[0,0]})")), HasSubstr("unknown dtype F8"));
  EXPECT_THAT(verdict(one(R"({"dtype":4,"shape":[0],"data_offsets":[0,0]})")), HasSubstr("lacks dtype"));
  EXPECT_THAT(verdict(one("7")), HasSubstr("lacks dtype"));
  EXPECT_THAT(verdict(file_bytes("[]", "")), HasSubstr("not a JSON object"));
  EXPECT_THAT(verdict(file_bytes("{", "")), HasSubstr("too early"));
  EXPECT_THAT(verdict(file_bytes(R"({"__metadata__":{"a":1}})", "")), HasSubstr("__metadata__.a is not a string"));
  const std::string entry = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(verdict(file_bytes("{" + entry + "," + entry + "}", "")), HasSubstr("\"a\" stands twice"));
}

TEST_F(Safetensors, RefusesShapesWhoseSizeOverflows) {
  const auto shape = [](const std::string& extents) {
    return file_bytes(R"({"a":{"dtype":"F32","shape":[)" + extents + R"(],"data_offsets":[0,0]}})", "");
  };
  EXPECT_EQ(verdict(shape("0,5")), "read");
  EXPECT_THAT(verdict(shape("9223372036854775807")), HasSubstr("larger than memory"));
  EXPECT_THAT(verdict(shape("4294967296,4294967296,4294967296")), HasSubstr("larger than memory"));
  EXPECT_THAT(verdict(shape("0,4294967296,4294967296")), HasSubstr("larger than memory"));
  EXPECT_THAT(verdict(shape("4294967296,4294967296,0")), HasSubstr("larger than memory"));
}

TEST_F(Safetensors, NoMutationOfAValidFileIsACrash) {
  const std::string whole = file_bytes(kTwo, kTwoData);
  const MemoryFile file;
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes = whole;
    for (unsigned changes = 1 + random() % 3; changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 4);
          break;
        case 2:
          bytes.insert(at, 1, "0123456789{}[],:\"-e."[random() % 20]);
          break;
        default:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
      }
    }
    file.set(bytes);
    try {
      touch(SafetensorsFile(file.path(), ErrorKind::kCheckpoint));
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50'000);
}

TEST_F(Safetensors, WritesTheBytesOfTheReferenceWriter) {
  for (const char* name : {"pretrained_model/model.safetensors", "training_state/optimizer_state.safetensors",
                           "training_state/rng_state.safetensors"}) {
    const fs::path original = fs::path(LEROBOT_TEST_DATA) / "checkpoints/act_keypoints/checkpoints/000020" / name;
    const SafetensorsFile file(original, ErrorKind::kCheckpoint);
    const fs::path copy = scratch() / "copy.safetensors";
    write_safetensors(copy, file.tensors(), file.metadata());
    EXPECT_EQ(read_text(copy, ErrorKind::kIo), read_text(original, ErrorKind::kIo)) << name;
    struct stat info {};
    ASSERT_EQ(::stat(copy.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
  }
}

TEST_F(Safetensors, OrdersByDtypeThenNameAsTheReferenceWriterDoes) {
  const std::string bytes(8, 'x');
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  OrderedMap<TensorView> tensors{{"bool", {DType::kBool, {1}, data, 1}},   {"f32", {DType::kFloat32, {1}, data, 4}},
                                 {"i32", {DType::kInt32, {1}, data, 4}},   {"i64", {DType::kInt64, {1}, data, 8}},
                                 {"f64", {DType::kFloat64, {1}, data, 8}}, {"a32", {DType::kFloat32, {1}, data, 4}},
                                 {"u8", {DType::kUInt8, {1}, data, 1}},    {"bf16", {DType::kBFloat16, {1}, data, 2}}};
  write_safetensors(scratch() / "x.safetensors", tensors);
  std::vector<std::string> names;
  const SafetensorsFile file(scratch() / "x.safetensors", ErrorKind::kIo);
  for (const auto& [name, view] : file.tensors()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("i64", "f64", "a32", "f32", "i32", "bf16", "u8", "bool"));
}

TEST_F(Safetensors, AFileWithoutTensorsIsAnEmptyObject) {
  write_safetensors(scratch() / "x.safetensors", {});
  EXPECT_EQ(read_text(scratch() / "x.safetensors", ErrorKind::kIo), file_bytes("{}      ", ""));
  EXPECT_TRUE(SafetensorsFile(scratch() / "x.safetensors", ErrorKind::kIo).tensors().empty());
}

}  // namespace
}  // namespace lerobot
