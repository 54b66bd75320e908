#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "host/accel/activate.h"
#include "host/accel/start.h"
#include "host/app/hub_names.h"
#include "host/app/trainer_entry.h"
#include "host/base/affinity.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/config/load.h"

namespace lerobot {
namespace {

log::Level log_level(const std::string& name) {
  if (name == "debug") return log::Level::kDebug;
  if (name == "warning") return log::Level::kWarning;
  if (name == "error") return log::Level::kError;
  return log::Level::kInfo;
}

accel::StartOptions start_options(const config::TrainCommand& command) {
  accel::StartOptions options;
  options.plugin_directories = command.host.plugin_directories;
  options.torch_directory = command.host.torch_directory;
  options.request.plugin = command.host.plugin;
  if (command.config.policy) options.request.device = config::common(*command.config.policy).device;
  options.request.typed = command.device_typed;
  return options;
}

int run(const std::vector<std::string>& arguments) {
  const auto command = config::parse_train_command(arguments, std::cout, hub_names());
  if (!command) return 0;
  log::init(log_level(command->host.log_level));
  const accel::Started started = accel::start(start_options(*command));
  const auto trainer_run = reinterpret_cast<TrainerRun>(accel::load_trainer(started.torch));
  const TrainerCall call{&*command, started.accelerator.get(), &started.rejected};
  return trainer_run(&call);
}

}  // namespace
}  // namespace lerobot

int main(int argc, char** argv) {
  int code = 0;
  lerobot::remember_cores();
  try {
    code = lerobot::run({argv + 1, argv + argc});
  } catch (const lerobot::Error& error) {
    code = lerobot::exit_code(error.kind());
    lerobot::log::flush();
    std::cerr << "error: " << error.what() << '\n';
  } catch (const std::exception& error) {
    code = lerobot::exit_code(lerobot::ErrorKind::kInternal);
    lerobot::log::flush();
    std::cerr << "error: " << error.what() << '\n';
  }
  // No destructors of libraries that plugins brought: their threads may still run.
  lerobot::log::flush();
  std::cout.flush();
  std::fflush(nullptr);
  std::quick_exit(code);
}
