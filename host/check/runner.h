#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/check/check.h"

namespace lerobot::check {

struct Result {
  const Check* check = nullptr;
  Verdict verdict;
  double milliseconds = 0;
};

struct Report {
  Subject subject;
  accel::ProbeResult probe;
  std::vector<Result> results;

  std::size_t count(Verdict::Kind kind) const;
};

struct Options {
  std::filesystem::path directory;               ///< of the package
  std::optional<std::string> torch_directory;    ///< --torch_dir
  Level level = Level::kNumerics;                ///< the highest one to check
  std::string only = "*";                        ///< glob over the names of checks
  std::chrono::milliseconds limit{60000};        ///< for each check
  std::size_t at_once = 2;                       ///< child processes
  std::function<void(const Report&)> on_start;   ///< package, torch and device are known
  std::function<void(const Result&)> on_result;  ///< in the order of the checks, as soon as it can be told
};

/// The checks that the options ask for. Throws Error(kUsage) when `only` matches none.
std::vector<const Check*> chosen_checks(const Options& options);

/// Probes the package, then runs each chosen check in a child process of its own: one that crashes, hangs or ends the
/// process has failed, and takes nothing else with it. Throws Error(kUsage) when there is no package.
Report run_checks(const Options& options);

/// lerobot-accel-check beside the host library: what the child processes run.
std::filesystem::path check_helper();

/// The main function of the helper: `request` is what run_checks gave it. Answers with one JSON line on standard output
/// and ends the process.
[[noreturn]] void run_check_child(const std::string& request);

}  // namespace lerobot::check
