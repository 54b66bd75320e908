// The rules for structs, pointers and errors, over every function: the same check for lra_probe and lra_get_api
// ("entry") and for the functions of the table.
#include <algorithm>

#include "host/check/call.h"
#include "host/check/check.h"

namespace lerobot::check {
namespace {

using Calls = std::vector<Call> (*)(Run&);
using Kind = Parameter::Kind;

constexpr std::size_t kTail = 24;  // bytes that a later version might add
constexpr std::byte kMark{0xa5};

std::string part(const Call& call, const Parameter& parameter) {
  return call.name + ": " + parameter.name;
}

void expect_status(Run& run, const std::string& what, lra_status found, lra_status needed) {
  run.expect(found == needed, "{}: {}, needed {}", what, status_name(found), status_name(needed));
}

/// Every null pointer is refused, on its own and together with a null error.
void nulls(Run& run, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      if (call.parameters[i].content.empty()) continue;  // an empty text may be null
      for (lra_error* error : {run.error(), static_cast<lra_error*>(nullptr)}) {
        Attempt attempt(run, call);
        attempt.make_null(i);
        expect_status(run, part(call, call.parameters[i]) + " null", attempt.make(error), LRA_INVALID_ARGUMENT);
      }
    }
    if (!call.needs_context) continue;
    Attempt attempt(run, call);
    attempt.without_context();
    expect_status(run, call.name + ": context null", attempt.make(run.error()), LRA_INVALID_ARGUMENT);
  }
}

/// Argument structs: a longer one with a zero tail is fine, a byte that is not known is refused, so is one that is too
/// short, so is a reserved field.
void arguments(Run& run, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      const Parameter& parameter = call.parameters[i];
      if (parameter.kind != Kind::kArguments) continue;
      const std::size_t size = parameter.content.size();
      Attempt longer(run, call);
      longer.resize(i, size + kTail);
      expect_status(run, part(call, parameter) + " longer, with zeros", longer.make(run.error()), call.answer);
      for (const std::size_t at : {size, size + kTail - 1}) {
        Attempt unknown(run, call);
        unknown.resize(i, size + kTail);
        unknown.parameter(i).content[at] = kMark;
        expect_status(run, part(call, parameter) + " longer, with a byte set", unknown.make(run.error()),
                      LRA_UNSUPPORTED);
      }
      for (const std::size_t shorter : {std::size_t{0}, sizeof(std::uint32_t), parameter.first_size - 1}) {
        Attempt attempt(run, call);
        attempt.resize(i, shorter);
        expect_status(run, part(call, parameter) + format(" of {} bytes", shorter), attempt.make(run.error()),
                      LRA_INVALID_ARGUMENT);
      }
      for (const TextField& field : parameter.reserved) {
        Attempt attempt(run, call);
        attempt.parameter(i).content[field.offset] = std::byte{1};
        expect_status(run, part(call, parameter) + format(" with the reserved field at {}", field.offset),
                      attempt.make(run.error()), LRA_UNSUPPORTED);
      }
    }
  }
}

/// Output structs: filled up to what both sides know and no further; one that is too short is refused.
void outputs(Run& run, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    if (call.answer != LRA_OK) continue;
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      const Parameter& parameter = call.parameters[i];
      if (parameter.kind != Kind::kOutput) continue;
      const std::size_t size = parameter.content.size();
      Attempt longer(run, call);
      longer.resize(i, size + kTail);
      std::fill_n(longer.parameter(i).content.begin() + static_cast<std::ptrdiff_t>(size), kTail, kMark);
      expect_status(run, part(call, parameter) + " longer", longer.make(run.error()), LRA_OK);
      const std::vector<std::byte> after = longer.after(i);
      const std::uint32_t filled = struct_size(after);
      const bool plausible = filled >= parameter.first_size && filled <= size + kTail;
      run.expect(plausible, "{}: struct_size says {} bytes filled of {}", part(call, parameter), filled, size + kTail);
      const std::size_t rest = std::clamp<std::size_t>(filled, size, size + kTail);
      run.expect(std::all_of(after.begin() + static_cast<std::ptrdiff_t>(plausible ? rest : size), after.end(),
                             [](std::byte byte) { return byte == kMark; }),
                 "{}: written past the {} bytes that struct_size says", part(call, parameter), filled);
      for (const std::size_t shorter : {std::size_t{0}, sizeof(std::uint32_t), parameter.first_size - 1}) {
        Attempt attempt(run, call);
        attempt.resize(i, shorter);
        expect_status(run, part(call, parameter) + format(" of {} bytes", shorter), attempt.make(run.error()),
                      LRA_INVALID_ARGUMENT);
      }
    }
  }
}

/// Nothing outside of what was lent is touched: a page that nobody may touch follows every buffer, texts without a
/// terminator included. A crash of the check is the finding.
void bounds(Run& run, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    std::vector<std::byte> space(sizeof(lra_error));
    const auto initial = sized<lra_error>();
    std::memcpy(space.data(), &initial, sizeof initial);
    const Buffer error(space, Buffer::Kind::kGuarded);
    auto* guarded_error = reinterpret_cast<lra_error*>(error.data());
    Attempt attempt(run, call, Buffer::Kind::kGuarded);
    expect_status(run, call.name + ": with guarded buffers", attempt.make(guarded_error), call.answer);
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      const Parameter& parameter = call.parameters[i];
      if (parameter.kind != Kind::kArguments && parameter.kind != Kind::kOutput) continue;
      Attempt shorter(run, call, Buffer::Kind::kGuarded);
      shorter.resize(i, sizeof(std::uint32_t));
      expect_status(run, part(call, parameter) + " of 4 guarded bytes", shorter.make(guarded_error),
                    LRA_INVALID_ARGUMENT);
    }
  }
}

/// The ways in which a call can be refused, each made once with a fresh error.
template <class Look>
void each_refusal(Run& run, const std::vector<Call>& calls, const Look& look) {
  for (const Call& call : calls) {
    const auto attempt_with = [&](const std::string& what, const auto& spoil) {
      Attempt attempt(run, call);
      attempt.pattern_outputs();
      spoil(attempt);
      auto error = sized<lra_error>();
      const lra_status status = attempt.make(&error);
      if (status != LRA_OK) look(what, attempt, status, error);
    };
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      const Parameter& parameter = call.parameters[i];
      if (parameter.content.empty()) continue;
      attempt_with(part(call, parameter) + " null", [&](Attempt& attempt) { attempt.make_null(i); });
      if (parameter.kind != Kind::kArguments) continue;
      attempt_with(part(call, parameter) + " with an unknown field",
                   [&](Attempt& attempt) { attempt.resize(i, parameter.content.size() + kTail, kMark); });
    }
    if (call.needs_context) {
      attempt_with(call.name + ": context null", [](Attempt& attempt) { attempt.without_context(); });
    }
    if (call.answer != LRA_OK) attempt_with(call.name, [](Attempt&) {});
  }
}

void failures(Run& run, const std::vector<Call>& calls) {
  each_refusal(run, calls, [&](const std::string& what, const Attempt& attempt, lra_status, const lra_error&) {
    const std::string changed = attempt.changed();
    run.expect(changed.empty(), "{}: refused, and {} was written to", what, changed);
  });
}

/// Whether an array holds terminated UTF-8 of one line.
std::string text_problem(const char* array, std::size_t size) {
  const auto* end = static_cast<const char*>(std::memchr(array, 0, size));
  if (!end) return "has no terminator";
  const std::string_view content(array, static_cast<std::size_t>(end - array));
  if (content.find_first_of("\n\r") != std::string_view::npos) return "has more than one line";
  for (std::size_t i = 0; i < content.size();) {
    const auto lead = static_cast<unsigned char>(content[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > content.size()) return "is not UTF-8";
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(content[i + k]) & 0xc0U) != 0x80U) return "is not UTF-8";
    }
    i += length;
  }
  return "";
}

void errors(Run& run, const std::vector<Call>& calls) {
  each_refusal(run, calls, [&](const std::string& what, const Attempt&, lra_status status, const lra_error& error) {
    run.expect(error.code == status, "{}: {}, and error.code is {}", what, status_name(status), error.code);
    run.expect(error.message[0] != 0, "{}: the error has no message", what);
    const std::string message = text_problem(error.message, sizeof error.message);
    run.expect(message.empty(), "{}: error.message {}", what, message);
    const std::string hint = text_problem(error.hint, sizeof error.hint);
    run.expect(hint.empty(), "{}: error.hint {}", what, hint);
  });
}

void successes(Run& run, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    if (call.answer != LRA_OK) continue;
    lra_error error{};
    std::memset(&error, 0x5a, sizeof error);
    error.struct_size = sizeof error;
    const lra_error before = error;
    Attempt attempt(run, call);
    expect_status(run, call.name, attempt.make(&error), LRA_OK);
    run.expect(std::memcmp(&before, &error, sizeof error) == 0, "{}: LRA_OK, and the error was written to", call.name);
    Attempt silent(run, call);
    expect_status(run, call.name + " with a null error", silent.make(nullptr), LRA_OK);
  }
}

void texts(Run& run, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    Attempt attempt(run, call);
    expect_status(run, call.name, attempt.make(run.error()), call.answer);
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      const std::vector<std::byte> after = attempt.after(i);
      for (const TextField& field : call.parameters[i].texts) {
        const std::string problem =
            text_problem(reinterpret_cast<const char*>(after.data()) + field.offset, field.size);
        run.expect(problem.empty(), "{}: the text at {} {}", part(call, call.parameters[i]), field.offset, problem);
      }
    }
  }
}

template <Calls kCalls, void (*kLook)(Run&, const std::vector<Call>&)>
void over(Run& run) {
  kLook(run, kCalls(run));
}

}  // namespace

std::vector<Check> entry_checks() {
  return {
      {"abi.entry-nulls", "lra_probe, lra_get_api: a null pointer is LRA_INVALID_ARGUMENT", over<entry_calls, nulls>},
      {"abi.entry-arguments", "lra_probe, lra_get_api: longer, shorter and reserved parts of argument structs",
       over<entry_calls, arguments>},
      {"abi.entry-outputs", "lra_probe, lra_get_api: output structs are filled up to struct_size, and it says how far",
       over<entry_calls, outputs>},
      {"abi.entry-bounds", "lra_probe, lra_get_api: nothing past a buffer is touched, no terminator is needed",
       over<entry_calls, bounds>},
      {"abi.entry-failures", "lra_probe, lra_get_api: refused, every output is untouched", over<entry_calls, failures>},
      {"abi.entry-errors", "lra_probe, lra_get_api: refused, the error holds code and message",
       over<entry_calls, errors>},
      {"abi.entry-successes", "lra_probe, lra_get_api: with LRA_OK the error is untouched",
       over<entry_calls, successes>},
      {"abi.entry-texts", "lra_probe, lra_get_api: texts are terminated, UTF-8, one line", over<entry_calls, texts>},
  };
}

std::vector<Check> table_checks() {
  return {
      {"abi.table-nulls", "functions: a null pointer is LRA_INVALID_ARGUMENT", over<table_calls, nulls>},
      {"abi.table-arguments", "functions: longer, shorter and reserved parts of argument structs and views",
       over<table_calls, arguments>},
      {"abi.table-outputs", "functions: output structs are filled up to struct_size, and it says how far",
       over<table_calls, outputs>},
      {"abi.table-bounds", "functions: nothing past a buffer is touched, no terminator is needed",
       over<table_calls, bounds>},
      {"abi.table-failures", "functions: refused, every output is untouched", over<table_calls, failures>},
      {"abi.table-errors", "functions: refused, the error holds code and message", over<table_calls, errors>},
      {"abi.table-successes", "functions: with LRA_OK the error is untouched and may be null",
       over<table_calls, successes>},
      {"abi.table-texts", "functions: texts are terminated, UTF-8, one line", over<table_calls, texts>},
  };
}

}  // namespace lerobot::check
