#include "host/checkpoint/rng_state.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <random>
#include <string_view>

#include "host/base/error.h"
#include "host/base/log.h"

namespace lerobot::checkpoint {
namespace {

constexpr std::size_t kWords = 624;
constexpr std::int64_t kTorchStateBytes = 5056;
constexpr std::string_view kTorchState = "torch_rng_state";

using Words = std::array<std::uint32_t, kWords>;

Words init_genrand(std::uint32_t seed) {
  Words state{};
  state[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30U)) + i;
  }
  return state;
}

Words init_by_array(const std::vector<std::uint32_t>& key) {
  Words state = init_genrand(19650218U);
  std::size_t i = 1;
  std::size_t j = 0;
  const auto advance = [&] {
    if (++i >= kWords) {
      state[0] = state[kWords - 1];
      i = 1;
    }
  };
  for (std::size_t k = std::max(kWords, key.size()); k > 0; --k) {
    state[i] =
        (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30U)) * 1664525U)) + key[j] + static_cast<std::uint32_t>(j);
    advance();
    if (++j >= key.size()) j = 0;
  }
  for (std::size_t k = kWords - 1; k > 0; --k) {
    state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30U)) * 1566083941U)) - static_cast<std::uint32_t>(i);
    advance();
  }
  state[0] = 0x80000000U;
  return state;
}

/// The 32-bit words of |seed|, lowest first, as Python's random.seed takes them.
std::vector<std::uint32_t> python_key(std::int64_t seed) {
  const std::uint64_t size = seed < 0 ? 0 - static_cast<std::uint64_t>(seed) : static_cast<std::uint64_t>(seed);
  std::vector<std::uint32_t> key{static_cast<std::uint32_t>(size)};
  if (size >> 32U) key.push_back(static_cast<std::uint32_t>(size >> 32U));
  return key;
}

/// The words, followed by the position if there is one.
at::Tensor long_tensor(const Words& words, std::optional<std::int64_t> position = std::nullopt) {
  const std::size_t size = kWords + (position ? 1 : 0);
  at::Tensor out = at::empty({static_cast<std::int64_t>(size)}, at::kLong);
  auto* data = out.mutable_data_ptr<std::int64_t>();
  std::copy(words.begin(), words.end(), data);
  if (position) data[kWords] = *position;
  return out;
}

at::Tensor long_scalar(std::int64_t value) {
  at::Tensor out = at::empty({1}, at::kLong);
  *out.mutable_data_ptr<std::int64_t>() = value;
  return out;
}

at::Tensor generator_state(const at::Device& device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

/// As LeRobot names the entry for cuda and mps; other devices follow.
std::string device_entry(const at::Device& device) {
  return "torch_" + c10::DeviceTypeName(device.type(), /*lower_case=*/true) + "_rng_state";
}

void set_generator_state(const at::Device& device, std::string_view name, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  try {
    generator.set_state(state);
  } catch (const c10::Error& error) {
    fail(ErrorKind::kCheckpoint, "{} is not a state of torch's generator on {}: {}", name, device.str(),
         error.what_without_backtrace());
  }
}

struct Entry {
  std::string_view name;
  at::ScalarType type;
  std::int64_t size;
};
constexpr std::array<Entry, 7> kEntries{{{"py_rng_version", at::kLong, 1},
                                         {"py_rng_state", at::kLong, kWords + 1},
                                         {"np_rng_state_values", at::kLong, kWords},
                                         {"np_rng_state_index", at::kLong, 1},
                                         {"np_rng_has_gauss", at::kLong, 1},
                                         {"np_rng_cached_gaussian", at::kFloat, 1},
                                         {kTorchState, at::kByte, kTorchStateBytes}}};

}  // namespace

Tensors fresh_rng_state(std::optional<std::int64_t> seed) {
  const std::int64_t value = seed ? *seed : static_cast<std::int64_t>(std::random_device()());
  constexpr auto kPosition = static_cast<std::int64_t>(kWords);  // all words used up: the next draw makes new ones
  Tensors rng;
  rng["py_rng_version"] = long_scalar(3);
  rng["py_rng_state"] = long_tensor(init_by_array(python_key(value)), kPosition);
  rng["np_rng_state_values"] = long_tensor(init_genrand(static_cast<std::uint32_t>(value)));
  rng["np_rng_state_index"] = long_scalar(kPosition);
  rng["np_rng_has_gauss"] = long_scalar(0);
  rng["np_rng_cached_gaussian"] = at::zeros({1}, at::kFloat);
  rng[kTorchState] = generator_state(at::kCPU);
  return rng;
}

void record_torch_rng(Tensors& rng, const at::Device& device) {
  Tensors kept;
  for (const auto& entry : kEntries) {
    if (const at::Tensor* tensor = rng.find(entry.name)) kept[entry.name] = *tensor;
  }
  kept[kTorchState] = generator_state(at::kCPU);
  if (!device.is_cpu()) kept[device_entry(device)] = generator_state(device);
  rng = std::move(kept);
}

void restore_torch_rng(const Tensors& rng, const at::Device& device) {
  const at::Tensor* state = rng.find(kTorchState);
  if (!state) fail(ErrorKind::kCheckpoint, "the checkpoint's random state has no {}", kTorchState);
  set_generator_state(at::kCPU, kTorchState, *state);
  if (device.is_cpu()) return;
  const std::string name = device_entry(device);
  if (const at::Tensor* own = rng.find(name)) return set_generator_state(device, name, *own);
  log::warn("the checkpoint was made on another device: {} starts its random numbers from the seed", device.str());
}

void check_rng_state(const Tensors& rng, const std::filesystem::path& path) {
  for (const auto& entry : kEntries) {
    const at::Tensor* tensor = rng.find(entry.name);
    if (!tensor) fail(ErrorKind::kCheckpoint, "{}: holds no {}", path.string(), entry.name);
    if (tensor->scalar_type() != entry.type || tensor->dim() != 1 || tensor->size(0) != entry.size) {
      fail(ErrorKind::kCheckpoint, "{}: {} is {} with {} elements, {} [{}] is needed", path.string(), entry.name,
           c10::toString(tensor->scalar_type()), tensor->numel(), c10::toString(entry.type), entry.size);
    }
  }
}

}  // namespace lerobot::checkpoint
