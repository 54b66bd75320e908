#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/check/guarded.h"
#include "host/check/run.h"

namespace lerobot::check {

/// A char array inside a struct.
struct TextField {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// What one pointer argument of a function leads to.
struct Parameter {
  enum class Kind {
    kArguments,  ///< a const struct
    kOutput,     ///< a struct that the callee fills
    kCell,       ///< a number or pointer that the callee fills
    kText,       ///< characters, their length given apart
  };
  std::string name;
  Kind kind = Kind::kArguments;
  std::vector<std::byte> content;          ///< of a good call; a struct's struct_size is set
  std::size_t first_size = 0;              ///< a struct's size in version 1.0
  std::vector<TextField> reserved = {};    ///< integers that are zero
  std::vector<TextField> texts = {};       ///< char arrays of an output
  bool answers_in_place = false;           ///< an output with fields that the caller sets: leave its content zero
  std::optional<std::size_t> parent = {};  ///< the pointer stands in this parameter, at `offset`, not in the call
  std::size_t offset = 0;
};

/// A function of the contract with arguments that make it succeed, in a form that a check can spoil one by one.
struct Call {
  std::string name;
  std::vector<Parameter> parameters;
  /// Calls the function; `pointers` stand in the order of `parameters` (those with a parent are in it already).
  std::function<lra_status(lra_context* context, const std::vector<void*>& pointers, lra_error* error)> invoke;
  std::function<void(const std::vector<void*>& pointers)> undo = {};  ///< after LRA_OK
  bool needs_context = true;
  lra_status answer = LRA_OK;  ///< of the good call
};

/// A struct as a parameter.
template <class Struct>
Parameter structure(std::string name, Parameter::Kind kind, const Struct& value) {
  Parameter parameter{std::move(name), kind, std::vector<std::byte>(sizeof(Struct)), sizeof(Struct)};
  std::memcpy(parameter.content.data(), &value, sizeof(Struct));
  return parameter;
}

template <class Value>
Parameter cell(std::string name) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): some cells hold a pointer
  return {std::move(name), Parameter::Kind::kCell, std::vector<std::byte>(sizeof(Value))};
}

Parameter text(std::string name, std::string_view value);

#define LEROBOT_CHECK_FIELD(type, field)       \
  ::lerobot::check::TextField {                \
    offsetof(type, field), sizeof(type::field) \
  }

/// The calls of lra_probe and lra_get_api: nothing is started for them.
std::vector<Call> entry_calls(Run& run);
/// The call of init and, when there is a device, of all functions that the table has. Skipped without a device.
std::vector<Call> table_calls(Run& run);

/// One call being made: a copy of its parameters that can be spoiled, then the memory that the plugin sees.
class Attempt {
 public:
  Attempt(Run& run, const Call& call, Buffer::Kind kind = Buffer::Kind::kPlain);

  Parameter& parameter(std::size_t i) { return parameters_[i]; }
  void make_null(std::size_t i) { null_ = i; }
  void without_context() { no_context_ = true; }
  /// Makes parameter i a struct of `size` bytes with `fill` where it was zero bytes or new.
  void resize(std::size_t i, std::size_t size, std::byte fill = std::byte{0});
  /// Fills what the plugin is to write (outputs, cells) with a pattern, so that a stray write shows.
  void pattern_outputs();

  /// Makes the call. `undo` runs when it succeeded.
  lra_status make(lra_error* error);

  /// What parameter i held before and after.
  const std::vector<std::byte>& before(std::size_t i) const { return parameters_[i].content; }
  std::vector<std::byte> after(std::size_t i) const { return after_[i]; }
  /// The first output or cell that the call changed; empty when it changed none.
  std::string changed() const;

 private:
  Run& run_;
  const Call& call_;
  Buffer::Kind kind_;
  std::vector<Parameter> parameters_;
  std::vector<std::vector<std::byte>> after_;
  std::optional<std::size_t> null_;
  bool no_context_ = false;
};

/// Reads struct_size.
std::uint32_t struct_size(const std::vector<std::byte>& structure);

}  // namespace lerobot::check
