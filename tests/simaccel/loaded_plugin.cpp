#include "tests/simaccel/loaded_plugin.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <stdexcept>
#include <string>

namespace lerobot::simaccel {
namespace {

/// The library stays loaded: unloading a plugin is never safe.
lra_get_api_fn load() {
  void* handle = dlopen(LEROBOT_SIMACCEL_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* entry = handle == nullptr ? nullptr : dlsym(handle, LRA_GET_API_SYMBOL);
  if (entry == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<lra_get_api_fn>(entry);
}

}  // namespace

void PluginTest::SetUp() {
  static const lra_get_api_fn get_api = load();
  const std::string torch_version = TORCH_VERSION;
  auto host = sized<lra_host_info>();
  host.abi_major_min = LRA_VERSION_MAJOR;
  host.abi_major_max = LRA_VERSION_MAJOR;
  host.abi_minor = LRA_VERSION_MINOR;
  host.torch_version = torch_version.data();
  host.torch_version_size = torch_version.size();
  api_ = sized<lra_api>();
  expect_ok(get_api(&host, &api_, &error_));
  const auto args = sized<lra_init_args>();
  ASSERT_NE(api_.init, nullptr);
  expect_ok(api_.init(&args, &context_, &error_));
}

void PluginTest::TearDown() {
  if (context_ != nullptr) expect_ok(api_.shutdown(context_, &error_));
}

void PluginTest::expect_ok(lra_status status) {
  EXPECT_EQ(status, LRA_OK) << error_.message;
}

std::vector<float> values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU, at::kFloat).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

}  // namespace lerobot::simaccel
