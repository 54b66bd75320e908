#include "host/checkpoint/pickle_writer.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace lerobot::checkpoint::pickle {
namespace {

constexpr std::size_t kBatch = 1000;  // items of a list that Python's pickler appends at once

template <class Number>
void put(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Number>
bool fits(std::int64_t value) {
  return value >= std::numeric_limits<Number>::min() && value <= std::numeric_limits<Number>::max();
}

}  // namespace

DictWriter::DictWriter() {
  out_ = "\x80\x02}";  // protocol 2, an empty dict
  memorize();
  opcode('(');
}

void DictWriter::add(std::string_view key, double value) {
  text(key);
  opcode('G');
  put(out_, __builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
}

void DictWriter::add(std::string_view key, std::int64_t value) {
  text(key);
  integer(value);
}

void DictWriter::add(std::string_view key, bool value) {
  text(key);
  opcode(value ? '\x88' : '\x89');
}

void DictWriter::add(std::string_view key, const std::vector<Tensor>& tensors) {
  text(key);
  opcode(']');
  memorize();
  for (std::size_t begin = 0; begin < tensors.size(); begin += kBatch) {
    const std::size_t end = std::min(tensors.size(), begin + kBatch);
    const bool alone = end - begin == 1;
    if (!alone) opcode('(');
    for (std::size_t i = begin; i < end; ++i) tensor(tensors[i]);
    opcode(alone ? 'a' : 'e');
  }
}

std::string DictWriter::finish() {
  out_ += "u.";
  return std::move(out_);
}

void DictWriter::text(std::string_view value) {
  opcode('X');
  put(out_, static_cast<std::uint32_t>(value.size()));
  out_ += value;
  memorize();
}

/// In the shortest form.
void DictWriter::integer(std::int64_t value) {
  if (fits<std::uint8_t>(value)) {
    opcode('K');
    put(out_, static_cast<std::uint8_t>(value));
  } else if (fits<std::uint16_t>(value)) {
    opcode('M');
    put(out_, static_cast<std::uint16_t>(value));
  } else if (fits<std::int32_t>(value)) {
    opcode('J');
    put(out_, static_cast<std::int32_t>(value));
  } else {
    std::uint8_t bytes = 5;
    while (bytes < 8 && (value >> (8U * bytes - 1U)) != (value < 0 ? -1 : 0)) ++bytes;
    opcode('\x8a');
    put(out_, bytes);
    out_.append(reinterpret_cast<const char*>(&value), bytes);
  }
}

void DictWriter::tuple(const std::vector<std::int64_t>& values) {
  if (values.empty()) {
    opcode(')');  // Python has one empty tuple, and does not number it
    return;
  }
  const bool counted = values.size() <= 3;
  if (!counted) opcode('(');
  for (const std::int64_t value : values) integer(value);
  opcode(counted ? static_cast<char>('\x84' + static_cast<char>(values.size())) : 't');
  memorize();
}

/// _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks)
void DictWriter::tensor(const Tensor& tensor) {
  global("torch._utils", "_rebuild_tensor_v2");
  opcode('(');
  storage(tensor.storage);
  integer(tensor.offset);
  tuple(tensor.shape);
  tuple(tensor.strides);
  opcode('\x89');
  global("collections", "OrderedDict");
  out_ += ")R";
  memorize();
  opcode('t');
  memorize();
  opcode('R');
  memorize();
}

/// By persistent id: ('storage', class, key, place, elements)
void DictWriter::storage(const Storage& storage) {
  opcode('(');
  shared_text("storage");
  global("torch", std::string(storage_class(storage.dtype)));
  text(storage.key);
  shared_text("cpu");
  integer(storage.elements);
  opcode('t');
  memorize();
  opcode('Q');
}

void DictWriter::memorize() {
  const bool is_short = memorized_ <= std::numeric_limits<std::uint8_t>::max();
  opcode(is_short ? 'q' : 'r');
  if (is_short) {
    put(out_, static_cast<std::uint8_t>(memorized_));
  } else {
    put(out_, memorized_);
  }
  ++memorized_;
}

bool DictWriter::recall(const std::string& object) {
  const auto [at, is_new] = shared_.emplace(object, memorized_);
  if (is_new) return false;
  const bool is_short = at->second <= std::numeric_limits<std::uint8_t>::max();
  opcode(is_short ? 'h' : 'j');
  if (is_short) {
    put(out_, static_cast<std::uint8_t>(at->second));
  } else {
    put(out_, at->second);
  }
  return true;
}

void DictWriter::shared_text(const std::string& value) {
  if (!recall("X" + value)) text(value);
}

void DictWriter::global(const std::string& module, const std::string& name) {
  const std::string object = "c" + module + "\n" + name + "\n";
  if (recall(object)) return;
  out_ += object;
  memorize();
}

}  // namespace lerobot::checkpoint::pickle
