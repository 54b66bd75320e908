#include "host/checkpoint/ema_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <boost/json/value.hpp>
#include <limits>
#include <random>

#include "host/base/json.h"
#include "host/checkpoint/pickle_writer.h"
#include "host/checkpoint/zip_writer.h"
#include "tests/unit/checkpoint/fixtures.h"

namespace lerobot::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

fs::path python_file() {
  return data("goldens/ema_state.pt");
}

std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

OrderedMap<std::string> zip_entries(const fs::path& file) {
  const std::string bytes = read_text(file, ErrorKind::kIo);
  OrderedMap<std::string> out;
  for (const auto& [name, content] : read_stored_zip(std::as_bytes(std::span(bytes)), file.string())) {
    out.append(name, text_of(content));
  }
  return out;
}

class EmaFile : public CheckpointTest {
 protected:
  fs::path file() const { return scratch() / "ema_state.pt"; }
  /// What reading the file says.
  std::string verdict() const {
    try {
      read_ema_state(file());
      return "read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      EXPECT_THAT(error.what(), StartsWith(file().string()));
      return error.what();
    }
  }
  std::string verdict_on(const std::string& bytes) {
    rewrite(file(), bytes);
    return verdict();
  }

  using Entry = std::variant<bool, std::int64_t, double, std::vector<pickle::Tensor>>;
  /// A whole file but for one entry: another value, or none.
  std::string verdict_with(std::string_view key, const std::optional<Entry>& entry) {
    const OrderedMap<Entry> whole{{"decay", 0.9},
                                  {"min_decay", 0.0},
                                  {"optimization_step", std::int64_t{3}},
                                  {"update_after_step", std::int64_t{0}},
                                  {"use_ema_warmup", true},
                                  {"inv_gamma", std::int64_t{1}},
                                  {"power", 0.75},
                                  {"shadow_params", std::vector<pickle::Tensor>{}}};
    EXPECT_TRUE(whole.contains(key));
    pickle::DictWriter dict;
    for (const auto& [name, value] : whole) {
      if (name == key && !entry) continue;
      std::visit([&, &text = name](const auto& held) { dict.add(text, held); }, name == key ? *entry : value);
    }
    fs::remove(file());
    DurableFile out(file());
    ZipWriter zip(out);
    zip.add("ema_state/data.pkl", dict.finish());
    zip.finish();
    out.finish();
    return verdict();
  }
};

TEST_F(EmaFile, OfPythonIsRead) {
  const EmaState state = read_ema_state(python_file());
  EXPECT_EQ(state.decay, 0.9999);
  EXPECT_EQ(state.min_decay, 0.0);
  EXPECT_EQ(state.optimization_step, 14);
  EXPECT_EQ(state.update_after_step, 0);
  EXPECT_EQ(state.inv_gamma, 1.0);
  EXPECT_EQ(state.power, 0.75);
  const auto golden = json::read_file(data("goldens/ema.json"), ErrorKind::kIo);
  const auto& shadows = golden.at_pointer("/cases/0/shadows/13").as_array();
  ASSERT_EQ(state.shadow.size(), shadows.size());
  std::size_t index = 0;
  for (const auto& [name, tensor] : state.shadow) {
    EXPECT_EQ(name, std::to_string(index));
    EXPECT_EQ(tensor.scalar_type(), at::kFloat);
    const auto& values = shadows[index++].as_array();
    ASSERT_EQ(tensor.numel(), static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(tensor.reshape({-1})[static_cast<std::int64_t>(i)].item<double>(), values[i].as_double());
    }
  }
  EXPECT_EQ(state.shadow.begin()->second.sizes(), (std::vector<std::int64_t>{2, 3}));
}

TEST_F(EmaFile, HoldsWhatTorchWritesByteForByte) {
  write_ema_state(file(), read_ema_state(python_file()));
  OrderedMap<std::string> expected;
  for (const auto& [name, content] : zip_entries(python_file())) {
    if (name != "ema_state/.data/serialization_id") expected.append(name, content);  // a hash that no reader needs
  }
  EXPECT_EQ(zip_entries(file()), expected);
}

TEST_F(EmaFile, OfAnySizeIsReadBack) {
  EmaState state{.decay = 0.5,
                 .min_decay = 0.25,
                 .optimization_step = 1,
                 .update_after_step = 70'000,
                 .inv_gamma = 2.5,
                 .power = 0.125,
                 .shadow = {}};
  for (int i = 0; i < 1001; ++i) state.shadow.append(format("weight.{}", i), at::full({1}, i, at::kFloat));
  state.shadow.append("turned", at::arange(6, at::kFloat).reshape({2, 3}).t());
  state.shadow.append("half", at::full({2, 1, 1, 1}, 0.5, at::kHalf));
  for (const std::int64_t step : {std::int64_t{255}, std::int64_t{256}, std::int64_t{65'536}, std::int64_t{1} << 31U,
                                  std::numeric_limits<std::int64_t>::max()}) {
    state.optimization_step = step;
    write_ema_state(file(), state);
    EXPECT_LE(fs::file_size(file()), ema_file_size(state));
    const EmaState read = read_ema_state(file());
    EXPECT_EQ(read.optimization_step, step);
    EXPECT_EQ(read.update_after_step, 70'000);
    EXPECT_EQ(read.decay, 0.5);
    EXPECT_EQ(read.min_decay, 0.25);
    EXPECT_EQ(read.inv_gamma, 2.5);
    EXPECT_EQ(read.power, 0.125);
    ASSERT_EQ(read.shadow.size(), state.shadow.size());
    auto expected = state.shadow.begin();
    for (const auto& [name, tensor] : read.shadow) {
      EXPECT_EQ(tensor.scalar_type(), expected->second.scalar_type());
      EXPECT_TRUE(tensor.equal((expected++)->second)) << name;
    }
  }
}

TEST_F(EmaFile, WithAWrongEntryIsRefusedByItsName) {
  EXPECT_EQ(verdict_with("decay", 0.5), "read");
  for (const char* key : {"decay", "min_decay", "optimization_step", "update_after_step", "use_ema_warmup", "inv_gamma",
                          "power", "shadow_params"}) {
    EXPECT_THAT(verdict_with(key, std::nullopt), HasSubstr(format("holds no {}", key)));
    const Entry other = std::string_view(key) == "shadow_params" ? Entry(true) : Entry(std::vector<pickle::Tensor>{});
    EXPECT_THAT(verdict_with(key, other),
                AllOf(HasSubstr(format(": {} is ", key)), HasSubstr("is needed"), HasSubstr("or remove the file")));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(verdict_with("decay", 1.5), HasSubstr("decay is 1.5, a number from 0 to 1 is needed"));
  EXPECT_THAT(verdict_with("decay", nan), HasSubstr("decay is NaN"));
  EXPECT_THAT(verdict_with("min_decay", 0.95), HasSubstr("min_decay is 0.95, a number from 0 to 0.9 is needed"));
  EXPECT_THAT(verdict_with("optimization_step", -1L), HasSubstr("optimization_step is -1, a whole number"));
  EXPECT_THAT(verdict_with("optimization_step", 3.0), HasSubstr("optimization_step is 3.0, a whole number"));
  EXPECT_THAT(verdict_with("use_ema_warmup", false), HasSubstr("use_ema_warmup is False, True is needed"));
  EXPECT_THAT(verdict_with("inv_gamma", 0.0), HasSubstr("inv_gamma is 0.0, a finite number above 0 is needed"));
  EXPECT_THAT(verdict_with("power", infinity), HasSubstr("power is Infinity, a finite number above 0 is needed"));
  EXPECT_THAT(verdict_with("power", true), HasSubstr("power is True"));
}

TEST_F(EmaFile, WithoutFiniteNumbersIsRefused) {
  EmaState state = read_ema_state(python_file());
  state.shadow["1"] = at::tensor({1.0F, std::numeric_limits<float>::quiet_NaN()});
  write_ema_state(file(), state);
  EXPECT_THAT(verdict(), HasSubstr("shadow_params[1] holds a value that is not finite"));
  EXPECT_NO_THROW(check_ema_file(file()));  // which looks at no numbers
}

TEST_F(EmaFile, OfAnotherKindIsRefused) {
  EXPECT_THAT(verdict_on(""), HasSubstr("not a file of torch.save"));
  EXPECT_THAT(verdict_on(read_text(data("weights/small.pth"), ErrorKind::kIo)), HasSubstr("holds no decay"));
  EXPECT_THAT(verdict_on(read_text(data("weights/whole_module.pth"), ErrorKind::kIo)), HasSubstr("is not allowed"));
}

TEST_F(EmaFile, CutAnywhereIsRefused) {
  for (const fs::path& original : {python_file(), file()}) {
    if (original == file()) write_ema_state(file(), read_ema_state(python_file()));
    const std::string whole = read_text(original, ErrorKind::kIo);
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      EXPECT_NE(verdict_on(whole.substr(0, size)), "read") << size;
      EXPECT_THROW(check_ema_file(file()), Error) << size;
    }
  }
}

TEST_F(EmaFile, MutatedIsNeverACrash) {
  std::mt19937 random(11);
  const MemoryFile memory;
  const std::string whole = read_text(python_file(), ErrorKind::kIo);
  int refused = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::string bytes = whole;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    memory.set(bytes);
    try {
      read_ema_state(memory.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      ++refused;
    }
  }
  EXPECT_GT(refused, 2'000);
}

class Zip : public CheckpointTest {
 protected:
  std::string written(std::uint64_t zip64_from) {
    const fs::path path = scratch() / "a.zip";
    fs::remove(path);
    DurableFile file(path);
    ZipWriter zip(file, zip64_from);
    zip.add("check", "123456789");
    zip.add("folder/long", std::string(1000, 'x'));
    zip.add("empty", "");
    zip.finish();
    return read_text(path, ErrorKind::kIo);
  }
};

TEST_F(Zip, EntriesBeginAtMultiplesOf64AndHaveTheirChecksums) {
  const std::string bytes = written(0xFFFFFFFF);
  for (const auto& [name, content] : read_stored_zip(std::as_bytes(std::span(bytes)), "a.zip")) {
    EXPECT_EQ((content.data() - reinterpret_cast<const std::byte*>(bytes.data())) % 64, 0) << name;
  }
  const std::string checksum("\x26\x39\xf4\xcb", 4);  // the check value of CRC-32
  EXPECT_EQ(bytes.find(checksum), 14U);
  EXPECT_NE(bytes.rfind(checksum), 14U);
}

TEST_F(Zip, LargeNumbersAreWrittenIn64Bits) {
  const OrderedMap<std::string> expected{
      {"check", "123456789"}, {"folder/long", std::string(1000, 'x')}, {"empty", ""}};
  const std::string plain = written(0xFFFFFFFF);
  EXPECT_EQ(plain.find("PK\6\6"), std::string::npos);
  for (const std::uint64_t from : {0xFFFFFFFFULL, 1000ULL, 100ULL, 1ULL}) {
    const std::string bytes = written(from);
    OrderedMap<std::string> found;
    for (const auto& [name, content] : read_stored_zip(std::as_bytes(std::span(bytes)), "a.zip")) {
      found.append(name, text_of(content));
    }
    EXPECT_EQ(found, expected) << from;
    EXPECT_EQ(bytes.find("PK\6\6") == std::string::npos, from == 0xFFFFFFFF) << from;
  }
}

}  // namespace
}  // namespace lerobot::checkpoint
