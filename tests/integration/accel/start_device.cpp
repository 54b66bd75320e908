#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "host/accel/start.h"
#include "host/base/error.h"
#include "host/base/log.h"

/// start_device PLUGINS [typed|stored DEVICE]: starts a device from these packages (empty: the installed ones) as the
/// trainer does, and prints "plugin device torch".
int main(int argc, char** argv) {
  using namespace lerobot;
  int code = 0;
  try {
    accel::StartOptions options;
    if (argc > 1 && *argv[1]) options.plugin_directories = {argv[1]};
    if (argc > 3) {
      options.request.device = argv[3];
      options.request.typed = std::string_view(argv[2]) == "typed";
    }
    const accel::Started started = accel::start(options);
    std::cout << started.accelerator->plugin_id() << ' ' << started.accelerator->torch_device() << ' '
              << started.torch.version << std::endl;
    for (const std::string& line : started.rejected) std::cout << "rejected " << line << std::endl;
    const auto bf16 = started.accelerator->autocast_query(accel::Precision::kBFloat16);
    std::cout << "bf16 " << static_cast<unsigned>(bf16.support) << std::endl;
    if (bf16.support != accel::Support::kNone) {
      const auto token = started.accelerator->autocast_enter(accel::Precision::kBFloat16);
      started.accelerator->autocast_exit(token);
    }
    started.accelerator->synchronize();
  } catch (const Error& error) {
    code = exit_code(error.kind());
    std::cerr << "error: " << error.what() << std::endl;
  }
  log::flush();
  std::fflush(nullptr);
  std::quick_exit(code);
}
