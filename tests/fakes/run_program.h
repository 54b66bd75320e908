#pragma once

#include <map>
#include <string>
#include <vector>

namespace lerobot::test {

struct ProgramResult {
  int code = -1;  ///< exit code; 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// Runs the program at this path to its end, with these variables added to the environment.
ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables = {});

}  // namespace lerobot::test
