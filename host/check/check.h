#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/check/run.h"

namespace lerobot::check {

/// What a check looks at; each level needs what the one before promises.
enum class Level : std::uint32_t { kStatic = 1, kAbi = 2, kBehaviour = 3, kNumerics = 4 };

/// "static", "abi", "behaviour", "numerics": the first part of a check's name.
std::string level_name(Level level);

/// One promise of the contract, put to the test. `run` notes faults in the Run, throws Failed or Skipped.
struct Check {
  const char* name;     ///< "abi.truncated-table"
  const char* purpose;  ///< the promise, one line
  void (*run)(Run&);
  bool of_any_package = false;   ///< also of a package of kind torch
  Level level = Level::kStatic;  ///< by the name
};

// Each group has a file of its own.
std::vector<Check> static_checks();
std::vector<Check> entry_checks();
std::vector<Check> handshake_checks();
std::vector<Check> table_checks();
std::vector<Check> lifecycle_checks();
std::vector<Check> process_checks();
std::vector<Check> device_checks();
std::vector<Check> thread_checks();
std::vector<Check> autocast_checks();
std::vector<Check> unscale_checks();
std::vector<Check> scale_update_checks();
std::vector<Check> numerics_checks();

/// All of them, by level.
const std::vector<Check>& all_checks();

/// The verdict on one check.
struct Verdict {
  enum class Kind { kPass, kFail, kSkipped };
  Kind kind = Kind::kFail;
  std::string detail;  ///< what was found, or why it was skipped; one line
};

/// "pass", "FAIL", "skipped"
std::string verdict_name(Verdict::Kind kind);

/// Runs one check in this process.
Verdict run_check(const Check& check, const Subject& subject);

}  // namespace lerobot::check
