#include "host/accel/activate.h"

#include <string_view>

#include "host/accel/abi.h"
#include "host/accel/images.h"
#include "host/accel/library.h"
#include "host/base/error.h"
#include "host/base/log.h"

namespace lerobot::accel {
namespace {

/// The plugin's log lines in ours. Called from any thread; must not throw.
void forward_log(void* plugin_id, std::uint32_t level, const char* message, std::uint64_t size) {
  try {
    const std::string text = printable(std::string_view(message, size));
    const auto& id = *static_cast<const std::string*>(plugin_id);
    switch (level) {
      case LRA_LOG_DEBUG:
        return log::debug("{}: {}", id, text);
      case LRA_LOG_INFO:
        return log::info("{}: {}", id, text);
      case LRA_LOG_WARNING:
        return log::warn("{}: {}", id, text);
      default:
        return log::error("{}: {}", id, text);
    }
  } catch (...) {  // a lost log line is no reason to end in the plugin's code
  }
}

lra_api shake_hands(const Library& library, const Candidate& candidate, const std::string& torch_version) {
  const std::string file = candidate.checked.library.filename().string();
  const auto get_api = reinterpret_cast<lra_get_api_fn>(library.find(LRA_GET_API_SYMBOL));
  if (!get_api) fail(ErrorKind::kDevice, "{}: exports no {}. Reinstall the package", file, LRA_GET_API_SYMBOL);
  constexpr std::string_view kCxxAbi = LRA_CXX_ABI;
  lra_host_info host{};
  host.struct_size = sizeof host;
  host.abi_major_min = kAbiMajorMin;
  host.abi_major_max = kAbiMajorMax;
  host.abi_minor = LRA_VERSION_MINOR;
  host.sanitizers = LRA_COMPILED_SANITIZERS;
  host.torch_version = torch_version.c_str();
  host.torch_version_size = torch_version.size();
  host.cxx_abi = kCxxAbi.data();
  host.cxx_abi_size = kCxxAbi.size();
  lra_api api{};
  api.struct_size = sizeof api;
  lra_error error{};
  error.struct_size = sizeof error;
  check_status(get_api(&host, &api, &error), error, LRA_GET_API_SYMBOL);

  if (api.abi_major < kAbiMajorMin || api.abi_major > kAbiMajorMax) {
    fail(ErrorKind::kDevice, "{}: speaks plugin ABI {}, this program {} to {}. Install matching releases", file,
         api.abi_major, kAbiMajorMin, kAbiMajorMax);
  }
  if (bounded_text(api.plugin_id) != candidate.package.id) {
    fail(ErrorKind::kDevice, "{}: calls itself {}, its manifest {}. Reinstall the package", file,
         bounded_text(api.plugin_id), candidate.package.id);
  }
  if (api.sanitizers & ~LRA_COMPILED_SANITIZERS) {
    fail(ErrorKind::kDevice, "{}: was built with a sanitizer that this program lacks. Install a plain build", file);
  }
  const struct {
    const char* name;
    bool there;
  } required[] = {{"init", api.init != nullptr},
                  {"shutdown", api.shutdown != nullptr},
                  {"device_count", api.device_count != nullptr},
                  {"device_info", api.device_info != nullptr},
                  {"activate_device", api.activate_device != nullptr},
                  {"synchronize", api.synchronize != nullptr},
                  {"selftest", api.selftest != nullptr}};
  for (const auto& entry : required) {
    if (!entry.there) fail(ErrorKind::kDevice, "{}: its table has no {}. Install a whole plugin", file, entry.name);
  }
  return api;
}

lra_context* start(const lra_api& api, const std::string& id, std::uint32_t device) {
  lra_init_args args{};
  args.struct_size = sizeof args;
  args.log = forward_log;
  args.log_context =
      new std::string(id);  // lives as long as the process: the plugin may log until its last thread ends
  lra_context* context = nullptr;
  lra_error error{};
  error.struct_size = sizeof error;
  check_status(api.init(&args, &context, &error), error, "init");
  std::uint32_t count = 0;
  check_status(api.device_count(context, &count, &error), error, "device_count");
  if (device >= count) fail(ErrorKind::kDevice, "device index {}: the started plugin has {} devices", device, count);
  return context;
}

}  // namespace

std::string open_torch(const TorchRuntime& torch) {
  void* version_function = nullptr;
  for (const auto& path : torch.preload) {
    const Library library = Library::open(path);
    if (!version_function) version_function = library.find("aoti_torch_abi_version");
  }
  if (torch.version.empty()) return "";
  require_one_torch(torch.preload, torch.directory);
  if (!version_function) {
    fail(ErrorKind::kDevice,
         "{}: none of its libraries exports aoti_torch_abi_version, so it is no torch this program knows",
         torch.directory.string());
  }
  const std::string found = torch_version_text(reinterpret_cast<std::uint64_t (*)()>(version_function)());
  if (major_minor(found) != major_minor(torch.version)) {
    fail(ErrorKind::kDevice, "{}: is torch {}, the plugin was built with {}. Name a torch {}", torch.directory.string(),
         found, torch.version, major_minor(torch.version));
  }
  return found;
}

std::unique_ptr<Accelerator> activate(const Candidate& candidate, std::uint32_t device) {
  const CheckedPlugin& plugin = candidate.checked;
  const std::string torch_version = open_torch(plugin.torch);
  const Library library = Library::open(plugin.library);
  if (!torch_version.empty()) require_one_torch(plugin.torch.preload, plugin.torch.directory);
  const lra_api api = shake_hands(library, candidate, torch_version);
  auto accelerator = std::make_unique<Accelerator>(api, start(api, candidate.package.id, device), device);
  accelerator->activate_on_this_thread();
  accelerator->selftest();
  return accelerator;
}

void* load_trainer(const TorchRuntime& torch) {
  constexpr char kEntry[] = "lerobot_trainer_run";
  const auto path = trainer_library(library_directory(), torch);
  void* entry = Library::open(path).find(kEntry);
  if (!entry) fail(ErrorKind::kDevice, "{}: exports no {}. Reinstall the program", path.string(), kEntry);
  return entry;
}

std::string torch_version_text(std::uint64_t abi_version) {
  return format("{}.{}.{}", abi_version >> 56 & 0xff, abi_version >> 48 & 0xff, abi_version >> 40 & 0xff);
}

}  // namespace lerobot::accel
