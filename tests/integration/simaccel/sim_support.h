// Runs of lerobot-train on the simulated accelerator (tests/simaccel).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/integration/train/run_support.h"

namespace lerobot::test {

using Environment = std::map<std::string, std::string>;

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more);

/// small_act on one thread: tests of small numbers on busy machines.
std::vector<std::string> tiny_act(const std::string& dataset, const std::filesystem::path& output,
                                  const std::vector<std::string>& more);

/// Flags that choose the simulated accelerator.
std::vector<std::string> on_simaccel(const std::vector<std::string>& arguments, const std::string& device = "simaccel");

/// Controls of the simulated accelerator, its random numbers being the CPU's.
Environment same_numbers(const std::string& controls = "");

/// Runs lerobot-train and expects success. Returns the output.
std::string run(const std::vector<std::string>& arguments, const Environment& environment = {});

/// A test with a folder of its own.
struct Folder {
  std::filesystem::path path = make_temporary_directory("simaccel");
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace lerobot::test
