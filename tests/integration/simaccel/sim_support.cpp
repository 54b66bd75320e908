#include "tests/integration/simaccel/sim_support.h"

#include <gtest/gtest.h>

namespace lerobot::test {

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> tiny_act(const std::string& dataset, const std::filesystem::path& output,
                                  const std::vector<std::string>& more) {
  return small_act(dataset, output, with({"--num_threads=1", "--batch_size=4", "--kernels=reference"}, more));
}

std::vector<std::string> on_simaccel(const std::vector<std::string>& arguments, const std::string& device) {
  return with(arguments, {"--policy.device=" + device, "--plugins=" LEROBOT_SIMACCEL_DIRECTORY});
}

Environment same_numbers(const std::string& controls) {
  return {{"LEROBOT_SIMACCEL", "generator=cpu," + controls}};
}

std::string run(const std::vector<std::string>& arguments, const Environment& environment) {
  const Outcome outcome = run_program(train_program(), arguments, environment);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  return outcome.out;
}

}  // namespace lerobot::test
