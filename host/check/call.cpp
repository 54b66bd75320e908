#include "host/check/call.h"

#include <algorithm>

namespace lerobot::check {
namespace {

constexpr std::byte kPattern{0x5a};

bool is_output(const Parameter& parameter) {
  return parameter.kind == Parameter::Kind::kOutput || parameter.kind == Parameter::Kind::kCell;
}

void put_pointer(std::byte* at, const void* pointer) {
  std::memcpy(at, &pointer, sizeof pointer);
}

}  // namespace

Parameter text(std::string name, std::string_view value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
  return {std::move(name), Parameter::Kind::kText, std::vector<std::byte>(bytes, bytes + value.size())};
}

std::uint32_t struct_size(const std::vector<std::byte>& structure) {
  std::uint32_t size = 0;
  std::memcpy(&size, structure.data(), sizeof size);
  return size;
}

Attempt::Attempt(Run& run, const Call& call, Buffer::Kind kind)
    : run_(run), call_(call), kind_(kind), parameters_(call.parameters) {}

void Attempt::resize(std::size_t i, std::size_t size, std::byte fill) {
  const auto stated = static_cast<std::uint32_t>(size);
  std::vector<std::byte>& content = parameters_[i].content;
  content.resize(std::max(size, sizeof stated), fill);
  std::memcpy(content.data(), &stated, sizeof stated);
}

void Attempt::pattern_outputs() {
  for (Parameter& parameter : parameters_) {
    if (!is_output(parameter) || parameter.answers_in_place) continue;
    const std::size_t head = parameter.kind == Parameter::Kind::kOutput ? sizeof(std::uint32_t) : 0;
    std::fill(parameter.content.begin() + static_cast<std::ptrdiff_t>(head), parameter.content.end(), kPattern);
  }
}

lra_status Attempt::make(lra_error* error) {
  if (call_.needs_context) run_.start();
  if (!call_.needs_context && run_.started()) run_.stop();
  std::vector<Buffer> buffers;
  std::vector<void*> pointers;
  for (const Parameter& parameter : parameters_) {
    buffers.emplace_back(parameter.content, kind_);
    pointers.push_back(buffers.back().data());
  }
  if (null_) pointers[*null_] = nullptr;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].parent) continue;
    Parameter& parent = parameters_[*parameters_[i].parent];
    const std::size_t offset = parameters_[i].offset;
    if (offset + sizeof(void*) > parent.content.size()) continue;  // a struct cut short
    put_pointer(buffers[*parameters_[i].parent].data() + offset, pointers[i]);
    put_pointer(parent.content.data() + offset, pointers[i]);
  }
  const lra_status status = call_.invoke(no_context_ ? nullptr : run_.context(), pointers, error);
  after_.clear();
  for (const Buffer& buffer : buffers) after_.push_back(buffer.content());
  if (status == LRA_OK && call_.undo) call_.undo(pointers);
  return status;
}

std::string Attempt::changed() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (is_output(parameters_[i]) && parameters_[i].content != after_[i]) return parameters_[i].name;
  }
  return "";
}

}  // namespace lerobot::check
