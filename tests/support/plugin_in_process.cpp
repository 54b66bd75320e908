#include "tests/support/plugin_in_process.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <stdexcept>

namespace lerobot::test {
namespace {

template <typename Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

void check(lra_status status, const lra_error& error) {
  if (status != LRA_OK) throw std::runtime_error(error.message);
}

}  // namespace

std::string plugin_library(const std::string& id) {
  return LEROBOT_STAGE "/lib/lerobot/accel.d/" + id + "/liblerobot_accel_" + id + ".so";
}

lra_api plugin_table(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* entry = handle == nullptr ? nullptr : dlsym(handle, LRA_GET_API_SYMBOL);
  if (entry == nullptr) throw std::runtime_error(dlerror());
  const std::string torch = TORCH_VERSION;
  auto host = sized<lra_host_info>();
  host.abi_major_min = host.abi_major_max = LRA_VERSION_MAJOR;
  host.abi_minor = LRA_VERSION_MINOR;
  host.torch_version = torch.data();
  host.torch_version_size = torch.size();
  auto api = sized<lra_api>();
  auto error = sized<lra_error>();
  check(reinterpret_cast<lra_get_api_fn>(entry)(&host, &api, &error), error);
  return api;
}

std::unique_ptr<accel::Accelerator> start_in_process(const std::string& library,
                                                     const std::function<void(lra_api&)>& change) {
  lra_api api = plugin_table(library);
  if (change) change(api);
  const auto args = sized<lra_init_args>();
  auto error = sized<lra_error>();
  lra_context* context = nullptr;
  check(api.init(&args, &context, &error), error);
  return std::make_unique<accel::Accelerator>(api, context, 0);
}

}  // namespace lerobot::test
