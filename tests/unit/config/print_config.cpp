// Prints what a command line means: the train_config.json of its configuration, or the error. For trying things out.
#include <iostream>

#include "host/base/error.h"
#include "host/config/load.h"

int main(int argc, char** argv) {
  try {
    const auto command = lerobot::config::parse_train_command({argv + 1, argv + argc}, std::cout);
    if (!command) return 0;
    std::cout << lerobot::config::train_config_json(command->config) << '\n';
    if (command->checkpoint) std::cerr << "checkpoint: " << command->checkpoint->string() << '\n';
    std::cerr << "device typed: " << command->device_typed << '\n';
  } catch (const lerobot::Error& error) {
    std::cerr << error.what() << '\n';
    return lerobot::exit_code(error.kind());
  }
}
