#include "controls.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "sdk/failure.h"

namespace lerobot::simaccel {
namespace {

constexpr const char* kVariable = "LEROBOT_SIMACCEL";
constexpr const char* kFileVariable = "LEROBOT_SIMACCEL_FILE";

[[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view needed) {
  throw sdk::Failure(LRA_INVALID_ARGUMENT, std::string(kVariable) + ": " + std::string(key) + "=" + std::string(value) +
                                               ", needed " + std::string(needed));
}

std::uint64_t to_number(std::string_view key, std::string_view value) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) refuse(key, value, "a whole number");
  return number;
}

bool to_bool(std::string_view key, std::string_view value) {
  if (value == "yes") return true;
  if (value == "no") return false;
  refuse(key, value, "yes or no");
}

std::uint32_t to_support(std::string_view key, std::string_view value) {
  if (value == "native") return LRA_SUPPORT_NATIVE;
  if (value == "emulated") return LRA_SUPPORT_EMULATED;
  if (value == "none") return LRA_SUPPORT_NONE;
  refuse(key, value, "native, emulated or none");
}

/// Whether a group of the table's entries is there.
bool to_entries(std::string_view key, std::string_view value) {
  if (value == "full") return true;
  if (value == "none") return false;
  refuse(key, value, "full or none");
}

GeneratorKind to_generator(std::string_view key, std::string_view value) {
  if (value == "own") return GeneratorKind::kOwn;
  if (value == "cpu") return GeneratorKind::kCpu;
  refuse(key, value, "own or cpu");
}

std::uint32_t to_device_count(std::string_view key, std::string_view value) {
  const std::uint64_t count = to_number(key, value);
  if (count > kMaxDevices) refuse(key, value, "at most " + std::to_string(kMaxDevices));
  return static_cast<std::uint32_t>(count);
}

/// "3" or "3+5+7".
std::vector<std::uint64_t> to_numbers(std::string_view key, std::string_view value) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find('+', begin), value.size());
    numbers.push_back(to_number(key, value.substr(begin, end - begin)));
    begin = end + 1;
  }
  return numbers;
}

using Setter = std::function<void(Controls&, std::string_view key, std::string_view value)>;

template <class Value>
Setter setter(Value Controls::*field, Value (*convert)(std::string_view, std::string_view)) {
  return
      [=](Controls& controls, std::string_view key, std::string_view value) { controls.*field = convert(key, value); };
}

const std::map<std::string_view, Setter>& setters() {
  static const std::map<std::string_view, Setter> all{
      {"devices", setter(&Controls::devices, to_device_count)},
      {"memory", setter(&Controls::memory, to_number)},
      {"float64", setter(&Controls::float64, to_bool)},
      {"bf16", setter(&Controls::bf16, to_support)},
      {"fp16", setter(&Controls::fp16, to_support)},
      {"autocast", setter(&Controls::autocast, to_entries)},
      {"scaler", setter(&Controls::scaler, to_entries)},
      {"tf32", setter(&Controls::tf32, to_bool)},
      {"generator", setter(&Controls::generator, to_generator)},
      {"oom_at", setter(&Controls::oom_at, to_number)},
      {"hang_at", setter(&Controls::hang_at, to_number)},
      {"delay_us", setter(&Controls::delay_us, to_number)},
      {"overflow_at", setter(&Controls::overflow_at, to_numbers)},
      {"wrong_sums", setter(&Controls::wrong_sums, to_bool)},
  };
  return all;
}

/// Applies "key=value" words, which commas or white space separate.
void set_from(Controls& controls, std::string_view text) {
  constexpr std::string_view kSeparators = ", \t\r\n";
  for (std::size_t begin = text.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::string_view key = word.substr(0, word.find('='));
    const auto found = setters().find(key);
    if (found == setters().end() || key.size() == word.size()) {
      throw sdk::Failure(LRA_INVALID_ARGUMENT, std::string(kVariable) + ": \"" + std::string(word) +
                                                   "\" is no key=value of the simulated accelerator");
    }
    found->second(controls, key, word.substr(key.size() + 1));
    begin = text.find_first_not_of(kSeparators, end);
  }
}

/// Tells one content of a file from the next: two writes within a tick of the clock differ in size or in inode.
using Version = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t>;

Version version_of(const char* path) {
  struct stat status {};
  if (path == nullptr || stat(path, &status) != 0) return {};
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino};
}

std::shared_ptr<const Controls> read(const char* path) {
  auto fresh = std::make_shared<Controls>();
  if (const char* text = std::getenv(kVariable)) set_from(*fresh, text);
  if (path != nullptr) {
    std::ifstream file(path);
    set_from(*fresh, std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return fresh;
}

}  // namespace

std::shared_ptr<const Controls> controls() {
  static std::mutex mutex;
  static std::shared_ptr<const Controls> current;
  static Version read_version;
  static const char* const path = std::getenv(kFileVariable);
  const std::lock_guard lock(mutex);
  const Version version = version_of(path);
  if (!current || version != read_version) {
    current = read(path);
    read_version = version;
  }
  return current;
}

lra_device_info describe_device(const Controls& controls, std::uint32_t ordinal) {
  lra_device_info info{};
  info.struct_size = sizeof(info);
  info.ordinal = ordinal;
  const auto add = [&](bool has, std::uint64_t capability) { info.capabilities |= has ? capability : 0; };
  add(true, LRA_CAP_UNIFIED_MEMORY);
  add(controls.float64, LRA_CAP_FLOAT64);
  add(controls.tf32, LRA_CAP_TF32);
  add(controls.autocast && controls.bf16 == LRA_SUPPORT_NATIVE, LRA_CAP_BF16_NATIVE);
  add(controls.autocast && controls.bf16 == LRA_SUPPORT_EMULATED, LRA_CAP_BF16_EMULATED);
  add(controls.autocast && controls.fp16 == LRA_SUPPORT_NATIVE, LRA_CAP_FP16_NATIVE);
  add(controls.autocast && controls.fp16 == LRA_SUPPORT_EMULATED, LRA_CAP_FP16_EMULATED);
  info.memory_total = controls.memory;
  info.memory_free = controls.memory;
  sdk::copy_text(info.name, "Simulated accelerator " + std::to_string(ordinal));
  sdk::copy_text(info.uuid, "simaccel-" + std::to_string(ordinal));
  sdk::copy_text(info.architecture, "sim1");
  return info;
}

}  // namespace lerobot::simaccel
