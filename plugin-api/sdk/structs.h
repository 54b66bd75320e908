// The contract's size rules for argument and output structs.
#pragma once

#include <algorithm>
#include <cstring>

#include "sdk/failure.h"

namespace lerobot::sdk {

/// What a struct measured in version 1.0; no caller has less. A struct that grows gets a specialization.
template <typename Struct>
inline constexpr std::uint32_t kFirstSize = sizeof(Struct);

/// No struct comes near; a larger struct_size is an uninitialized one.
inline constexpr std::uint32_t kLargestSize = 64 * 1024;

/// Throws LRA_INVALID_ARGUMENT unless `pointer` leads to a struct of a plausible size.
template <typename Struct>
void check_struct(const Struct* pointer, const char* name, std::uint32_t first_size = kFirstSize<Struct>) {
  if (pointer == nullptr) throw Failure(LRA_INVALID_ARGUMENT, std::string(name) + " is null");
  const std::uint32_t size = pointer->struct_size;
  if (size < first_size || size > kLargestSize) {
    throw Failure(LRA_INVALID_ARGUMENT, std::string(name) + ": struct_size is " + std::to_string(size) +
                                            ", needed at least " + std::to_string(first_size));
  }
}

/// check_struct for the first element of an array: the others stand its size apart, where their fields must be aligned.
template <typename Struct>
void check_array(const Struct* elements, const char* name) {
  check_struct(elements, name);
  if (elements->struct_size % alignof(Struct) == 0) return;
  throw Failure(LRA_INVALID_ARGUMENT, std::string(name) + ": struct_size of an element is " +
                                          std::to_string(elements->struct_size) + ", needed a multiple of " +
                                          std::to_string(alignof(Struct)));
}

/// A copy of the caller's arguments in this plugin's layout: fields the caller lacks are zero.
/// Throws LRA_UNSUPPORTED when the caller set a field that this plugin does not know.
template <typename Struct>
Struct read_args(const Struct* args, const char* name) {
  check_struct(args, name);
  const char* bytes = reinterpret_cast<const char*>(args);
  if (std::any_of(bytes + std::min<std::size_t>(sizeof(Struct), args->struct_size), bytes + args->struct_size,
                  [](char byte) { return byte != 0; })) {
    throw Failure(LRA_UNSUPPORTED,
                  std::string(name) + ": the host asks for something newer than version " LRA_VERSION_STRING,
                  "Update the plugin.");
  }
  Struct copy{};
  std::memcpy(&copy, args, std::min<std::size_t>(sizeof(Struct), args->struct_size));
  return copy;
}

/// Hands `value` to the caller, as much of it as fits, and sets struct_size to what was filled.
template <typename Struct>
void write_output(Struct* output, Struct value) noexcept {
  value.struct_size = std::min<std::uint32_t>(output->struct_size, sizeof(Struct));
  std::memcpy(output, &value, value.struct_size);
}

/// Reserved fields and streams are zero until a version gives them a meaning.
inline void check_reserved(std::uint64_t field, const char* name) {
  if (field != 0) {
    throw Failure(LRA_UNSUPPORTED, std::string(name) + " is " + std::to_string(field) + ", needed 0");
  }
}

}  // namespace lerobot::sdk
