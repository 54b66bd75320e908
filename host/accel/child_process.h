#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lerobot::accel {

/// How a child process ended and what it wrote.
struct ChildOutcome {
  std::string problem;  ///< why it did not start; empty when it did
  bool timed_out = false;
  int signal = 0;     ///< that ended it; 0: none
  int exit_code = 0;  ///< when no signal ended it
  std::string out;    ///< its standard output, 1 MiB at most
  std::string err;    ///< its standard error, 1 MiB at most
  double milliseconds = 0;
  int pid = 0;
};

/// Runs `program` once with each of `arguments`, `at_once` of them at the same time, each with at most `limit` of its
/// own; a child that takes longer is killed with all that it started. Children read nothing (/dev/null), form process
/// groups of their own and start with default signals. The outcomes stand in the order of the arguments; `told`, when
/// there is one, gets each in this order as soon as it and those before it are there.
std::vector<ChildOutcome> run_children(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                       std::chrono::milliseconds limit, std::size_t at_once,
                                       const std::function<void(const ChildOutcome&)>& told = {});

/// What a child of run_children does: writes the one line that `answer` gives to standard output and ends the process,
/// without destructors, since threads of a driver or plugin may still run. Whatever code from elsewhere prints
/// meanwhile goes to standard error, so that it cannot mix with the answer; a child that hangs does not outlive its
/// parent.
[[noreturn]] void answer_parent(const std::function<std::string()>& answer);

/// "signal 11 (Segmentation fault)"
std::string signal_text(int signal);

}  // namespace lerobot::accel
